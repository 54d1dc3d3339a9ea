"""The cached reads: the only part of the studio that knows the library.

A finished run never changes, so what is read from one is kept; everything else is read on each call. What is handed on
is frozen: types of the library or of this package, and data frames, which are read-only.
"""

from typing import TYPE_CHECKING

from components.data.agent_traces import trace
from components.data.agreements import (
    CorrectedMeans,
    acceptances,
    add_labels,
    agreement_slices,
    agreements,
    calibrate_metric,
    calibration_here,
    cell_outputs,
    corrected_means,
    forget_calibration,
    give_label,
    has_demo_labels,
    has_panel,
    label_criteria,
    label_demo,
    label_given,
    label_queue,
    label_sets,
    labelled_metrics,
    panel_agreement,
    rater_agreement,
    rater_noise,
    rater_outputs,
    remove_labels,
    start_label_demo,
    withdraw_label,
)
from components.data.case_difficulty import (
    case_items,
    has_items,
    items_csv,
    save_short_suite,
    short_suite_csv,
    short_suites,
)
from components.data.case_views import CaseView, example
from components.data.document_questions import (
    DOCUMENTS,
    DocumentFacts,
    DraftFacts,
    DraftView,
    document_facts,
    question_bytes,
    question_draft,
    question_drafts,
    question_estimate,
    question_job,
    question_kinds,
    question_schema,
    review_questions,
    start_questions,
    store_questions,
)
from components.data.error_reports import error_report
from components.data.evaluator_presets import presets
from components.data.found_slices import (
    found_slices,
    has_topics,
    read_slice,
    slice_measures,
    slice_values,
)
from components.data.given_files import ReadGiven, read_labels, read_preferences
from components.data.inputs import (
    FileRole,
    Inputs,
    InspectedFile,
    ReadInputs,
    Understood,
    allow_code,
    encoding_named,
    encodings,
    inspect,
    names_its_models,
    previews,
    problems_csv,
    read_inputs,
    read_suite,
    runs_to_clone,
    schedulers,
    settings_schema,
    start,
    stored_suites,
    wants_files,
    wants_images,
)
from components.data.judge_checks import (
    answer_variants,
    bias_hints,
    has_manipulations,
    judge_variants,
    manipulation_checks,
    unasked_variants,
    variants_estimate,
)
from components.data.judge_settings import (
    JudgeFacts,
    RunJudges,
    Setting,
    choose_judge,
    clear_cache,
    export_cache,
    import_cache,
    judge_cache,
    judge_chosen,
    judge_facts,
    judge_of,
    judge_schemas,
    let_key_go,
    local_judge,
    measured_agreement,
    own_models,
    running_servers,
    searched_folders,
    try_judge,
)
from components.data.model_needs import inference_hint, model_kinds, parameter_schema, unavailable, uses_judge
from components.data.monitors import (
    Monitored,
    MonitoredMetric,
    monitor_drift,
    monitor_failure_count,
    monitor_failures,
    monitor_sample_scores,
    monitor_trend,
    monitor_version,
    monitored,
    monitors,
    start_demo,
)
from components.data.object_exports import ExportFormat, export_objects, object_keys, save_selection
from components.data.object_lint import BoxPreview, DrawnBox, ObjectChecks, box_preview, object_checks
from components.data.pictures import Detail, detail, picture
from components.data.preferences import (
    JudgingState,
    add_preferences,
    give_preference,
    judge_and_people,
    judging_state,
    more_matches,
    pair_queue,
    position_bias,
    preference_cases,
    preference_criteria,
    preference_sets,
    preferences_estimate,
    preferred_models,
    remove_preferences,
    start_judging,
    stop_judging,
    withdraw_preference,
)
from components.data.prompts import (
    TriedCase,
    checked_prompt,
    own_prompts,
    place_prompts,
    placeholders,
    prompt_of_file,
    save_prompt,
    try_prompt,
)
from components.data.reviews import (
    best_point,
    choose_operating_point,
    confusion_at,
    marks,
    note_place,
    operating_point,
    remove_view,
    save_view,
    saved_views,
    tag_places,
)
from components.data.rubrics import (
    checked_rubric,
    own_rubrics,
    rubric_file,
    rubric_needs,
    rubric_of_file,
    rubric_parameters,
    save_rubric,
    usual_levels,
)
from components.data.run_archives import ImportedRun, archive_run, bundle_run, import_run
from components.data.run_estimates import estimate
from components.data.run_reads import (
    Weighting,
    answer,
    case_ids,
    case_texts,
    cases,
    compared,
    comparison,
    compliance,
    confused,
    corrected_tests,
    curve_columns,
    curves,
    detectable,
    differences,
    distributions,
    flip_rates,
    flips,
    has_repeats,
    head_to_head,
    headline,
    insights,
    judges_of,
    label_comparison,
    label_metrics,
    label_numbers,
    labels,
    leaderboard,
    match_evaluators,
    match_rules,
    matched,
    metrics_by_case,
    noise,
    object_counts,
    object_place,
    objectives,
    objects,
    pareto_front,
    problems,
    repeats,
    score_guarantees,
    scored,
    segment_outcomes,
    segments,
    several_suites,
    short_answers,
    targets,
    thumbnails,
    trend,
    weighted_scores,
    working_point,
    worst_cases,
)
from components.data.sample_sizes import sample_aim
from components.data.storage import draw_storage_error
from components.data.stored_outputs import answers_on_file, cases_to_answer
from components.data.suite_cases import (
    CaseToEdit,
    condition_form,
    condition_problem,
    copies,
    editable_cases,
    next_case_ids,
    schema_problem,
    suite_case,
    try_condition,
)
from components.data.suite_drafts import (
    SuiteFacts,
    add_edits,
    divide_suite,
    draft_bytes,
    edit_draft,
    edit_words,
    parts_of,
    perturb_draft,
    perturb_preview,
    perturbation_kinds,
    save_draft,
    store_upload,
    suite_cases,
    suite_facts,
    undo_edit,
)
from components.data.suite_duplicates import FoundDuplicates, suite_duplicates
from components.data.suite_versions import (
    CONFLICTS,
    MergeFacts,
    merge_into,
    rename_suite,
    suite_difference,
    suite_to_merge,
    suite_versions,
    suites_of_task,
    upload_to_merge,
)
from components.data.target_runs import (
    CompletionFacts,
    CompletionPlan,
    TriedTarget,
    cancel_completion,
    completion,
    plan_completion,
    start_completion,
    target_placeholders,
    target_schemas,
    triable_cases,
    try_target,
)
from components.data.thresholds import (
    Profiles,
    remove_profile,
    set_thresholds,
    threshold_profiles,
    thresholds_by_models,
    use_profile,
)
from components.data.unfinished_runs import SoFar, so_far
from components.data.uploaded_files import ARCHIVES, TABLES, choices_of, model_name, reading_of, upload_name
from components.data.visitors import (
    SignIn,
    audit_log,
    group,
    kept_here,
    may,
    own_name,
    sign_in,
    sign_out,
    signed_in,
    visitor,
)
from components.data.workspace_runs import (
    Replacing,
    RunFacts,
    RunProgress,
    asked_of,
    can_repair,
    cancel,
    damaged_runs,
    delete_run,
    deleted_runs,
    describe_run,
    empty_bin,
    ensure_samples,
    failure,
    progress,
    render_report,
    repair,
    replacement,
    report_sections,
    restore_run,
    resume,
    run_evaluator,
    run_facts,
    runs,
    same_suite,
    sample_description,
    sample_titles,
    samples_kept,
)
from metrics.analysis import OperatingPoint, match_objects
from metrics.analysis.comparison.decisions import answer as replacement_answer
from metrics.analysis.comparison.decisions import decisions
from metrics.analysis.corrected_tests import of_comparison, of_hints, of_matches, of_ranks, of_searches, of_trend
from metrics.analysis.findings.compliance import GLYPHS as OUTCOME_GLYPHS
from metrics.analysis.findings.compliance import NOTICE as COMPLIANCE_NOTICE
from metrics.analysis.findings.problems import flip_evidence
from metrics.analysis.objects.object_export import MAX_EXPORTED as MOST_EXPORTED
from metrics.analysis.slices.find_slices import LEVEL as SLICE_LEVEL
from metrics.core.calibration import FEWEST_LABELS
from metrics.core.errors import AssayError, InputError, RunCorrupt, RunError
from metrics.core.input_problems import grouped
from metrics.core.prompt import wording
from metrics.core.registry import evaluator_ids, title_of
from metrics.core.registry import evaluators as catalogue
from metrics.core.registry import refused as refused_plugins
from metrics.store.reviews import Mark, Place
from metrics.store.team import NotAllowed
from metrics.text.condition_form import ConditionForm, condition_of, row_problem
from metrics.text.condition_form import Group as ConditionGroup
from metrics.text.condition_form import Row as ConditionRow

if TYPE_CHECKING:
    from metrics.analysis import (
        CaseItem,
        CaseItems,
        Cell,
        Column,
        Comparison,
        CorrectedTests,
        Decision,
        Difference,
        Distribution,
        Distributions,
        GalleryObject,
        HeadToHead,
        Leaderboard,
        ModelNoise,
        Noise,
        Objective,
        ObjectPage,
        Outline,
        Overall,
        Placing,
        Ranks,
        Resampled,
        Segment,
        SeveralSuites,
        ShortSuites,
        Standard,
        Stop,
        Tile,
        Trend,
        Unpaired,
        WeightedScores,
        Window,
    )
    from metrics.analysis.findings.compliance import MeasuredEvidence
    from metrics.analysis.labels.acceptance import Acceptance
    from metrics.analysis.labels.corrected_means import Corrected
    from metrics.analysis.labels.human_labels import Criterion
    from metrics.analysis.labels.judge_agreement import Agreement, Stat
    from metrics.analysis.labels.judge_bias import BiasHint
    from metrics.analysis.labels.manipulations import Check
    from metrics.analysis.labels.panel_agreement import PanelAgreement
    from metrics.analysis.labels.raters import Raters
    from metrics.analysis.preferences.matches import Source
    from metrics.analysis.preferences.pairs import Pair
    from metrics.analysis.slices.find_slices import SliceSearch
    from metrics.analysis.slices.slice_outcomes import Measure
    from metrics.analysis.slices.slice_values import SliceTable, SliceValue
    from metrics.core.calibration import Calibration
    from metrics.core.errors import InputProblem
    from metrics.core.evaluator import Evaluator, Example, Metric
    from metrics.core.prompt import Prompt
    from metrics.engine import Estimate
    from metrics.ingest import Preview
    from metrics.ingest.given_files import GivenFile
    from metrics.ingest.lint import Finding, UnknownClass
    from metrics.ingest.tables.columns import Question
    from metrics.judge.cache import Statistics
    from metrics.judge.local.gguf_files import GgufFile
    from metrics.judge.local.model_servers import ModelServer
    from metrics.judge.workspace_judge import Trial
    from metrics.library.presets import Preset
    from metrics.monitoring import MetricDrift, Standing
    from metrics.perturbations import Kind
    from metrics.stats.prediction_powered import Estimate as MeanEstimate
    from metrics.store.rating_sets import GivenSet
    from metrics.store.run_progress import EvaluatorProgress, Progress
    from metrics.suites import Change as SuiteChange
    from metrics.suites import Difference as SuiteDifference
    from metrics.suites import Version
