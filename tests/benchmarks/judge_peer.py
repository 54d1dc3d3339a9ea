"""The five RAG metrics by another tool, in a process of its own: its wall and processor time as JSON.

    python tests/benchmarks/judge_peer.py ragas|deepeval URL AT_ONCE < CASES

The cases come as JSON on standard input: question, answer, reference, contexts. It needs nothing but the tool, so an
interpreter that has only that can run it. Both tools are used as their documentation shows: a metric object for each
metric, cases gathered under a semaphore; no cache is opted into.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

os.environ |= {"RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "OPENAI_API_KEY": "none"}
METRICS = 5  # of one case, asked at once
Case = dict[str, Any]


def by_ragas(url: str) -> Callable[[Case], list[Awaitable[Any]]]:
    from openai import AsyncOpenAI
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms import llm_factory
    from ragas.metrics.collections import (
        AnswerCorrectness,
        AnswerRelevancy,
        ContextPrecision,
        ContextRecall,
        Faithfulness,
    )

    class Flat(BaseRagasEmbedding):
        """Vectors at no cost, so that only the language model's part is compared."""

        def embed_text(self, text: str, **_: Any) -> list[float]:
            return [1.0, float(len(text) % 7)]

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return self.embed_text(text)

    llm = llm_factory("scripted", client=AsyncOpenAI(base_url=url, max_retries=0))
    faithfulness, relevancy = Faithfulness(llm=llm), AnswerRelevancy(llm=llm, embeddings=Flat())
    precision, recall = ContextPrecision(llm=llm), ContextRecall(llm=llm)
    correctness = AnswerCorrectness(llm=llm, embeddings=Flat())

    def asked(case: Case) -> list[Awaitable[Any]]:
        question, answer, reference, contexts = (case[name] for name in ("question", "answer", "reference", "contexts"))
        return [
            faithfulness.ascore(user_input=question, response=answer, retrieved_contexts=contexts),
            relevancy.ascore(user_input=question, response=answer),
            precision.ascore(user_input=question, reference=reference, retrieved_contexts=contexts),
            recall.ascore(user_input=question, retrieved_contexts=contexts, reference=reference),
            correctness.ascore(user_input=question, response=answer, reference=reference),
        ]

    return asked


def by_deepeval(url: str) -> Callable[[Case], list[Awaitable[Any]]]:
    from deepeval.metrics import (
        AnswerRelevancyMetric,
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        FaithfulnessMetric,
        GEval,
    )
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, SingleTurnParams
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, max_retries=0)

    class Scripted(DeepEvalBaseLLM):
        """A model by address, with structured replies."""

        def load_model(self, *_: Any, **__: Any) -> Any:
            return client

        def generate(self, *_: Any, **__: Any) -> str:
            raise NotImplementedError

        async def a_generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
            form = {"name": schema.__name__, "schema": schema.model_json_schema()}
            done = await client.chat.completions.create(
                model="scripted",
                messages=[{"role": "user", "content": prompt}],
                response_format={"type": "json_schema", "json_schema": form},
            )
            return schema.model_validate_json(done.choices[0].message.content)

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return "scripted"

    model = Scripted("scripted")
    steps = ["Compare the actual output with the expected output.", "Rate how correct and complete it is."]
    params = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT]

    def asked(case: Case) -> list[Awaitable[Any]]:
        test = LLMTestCase(
            input=case["question"], actual_output=case["answer"], expected_output=case["reference"],
            retrieval_context=case["contexts"],
        )  # fmt: skip
        kinds = (FaithfulnessMetric, AnswerRelevancyMetric, ContextualPrecisionMetric, ContextualRecallMetric)
        metrics = [kind(model=model) for kind in kinds]  # a metric keeps the state of its last case
        metrics.append(GEval("Correctness", evaluation_params=params, evaluation_steps=steps, model=model))
        return [metric.a_measure(test, _show_indicator=False) for metric in metrics]

    return asked


async def main() -> None:
    name, url, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3])
    cases = json.load(sys.stdin)
    asked = {"ragas": by_ragas, "deepeval": by_deepeval}[name](url)
    free = asyncio.Semaphore(at_once // METRICS)

    async def one(case: Case) -> None:
        async with free:
            await asyncio.gather(*asked(case))

    await one(cases[0])  # imports, connections
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(one, cases[1:]))
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))


asyncio.run(main())
