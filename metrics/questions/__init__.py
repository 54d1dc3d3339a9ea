"""Test questions about documents: proposed by a judge, approved by a person.

    from metrics.questions import questions_from_documents

    draft = questions_from_documents("handbook", judge="gpt-4o-mini", number=40, seed=1)
    draft.questions         # each with its kind, reference answer, passages and quotes
    draft.dropped           # what was not kept, and why
    draft.suite(statuses=["proposed"])      # as a suite, if nobody needs to approve them

`save_draft` stores a draft in a workspace, where the page Suites shows it for approval.
"""

from metrics.questions.cost import estimate
from metrics.questions.draft import Draft, DraftNotFound, Review, approved, drafts, read_draft, review, save_draft
from metrics.questions.kinds import QUESTION_KINDS, Kind
from metrics.questions.settings import QuestionSettings, question_settings
from metrics.questions.write_questions import questions_from_documents, write_questions
