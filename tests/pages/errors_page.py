"""A page that fails where it is told to: in its script, a fragment, a callback, or a download."""

import streamlit as st

SECRET = "the patient's name"


def fail(*_: object) -> None:
    raise KeyError(SECRET)


@st.fragment
def part(name: str) -> None:
    st.text(f"part {name}")
    if st.session_state.get("fragments") or st.button("Fail in a part", key=f"fail-{name}"):
        fail()


@st.dialog("A question")
def question() -> None:
    if st.session_state.get("dialogs") or st.button("Fail in a dialog"):
        fail()


st.title("A page")
if st.session_state.get("dialogs") or st.button("Ask"):
    question()
st.button("Fail in a callback", on_click=fail)
st.download_button("Fail in a download", data=fail, file_name="a.csv", on_click="ignore")
for name in ("one", "two"):
    part(name)
if st.query_params.get("fail") or st.button("Fail"):
    fail()
st.text("the end")
