// The page About: how each number is computed, and what was evaluated.
async function drawAbout(main) {
  const { methods, heads, facts } = await load("about");
  main.append(make("p", "muted", "What was evaluated, and how is each number computed?"));
  if (run.leftOut) main.append(make("p", "", run.leftOut));
  for (const { title, rows } of facts) {
    const pairs = rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]);
    main.append(make("h2", "", title), make("dl", "", ...pairs));
  }
  if (methods.length) main.append(make("h2", "", "Methods"));
  for (const { title, version, definition, details, rows, lines } of methods) {
    const texts = [definition, ...details].map((text) => make("p", "words", text));
    const notes = lines.map((line) => make("p", "muted small words", line));
    main.append(folded(title, false, make("p", "muted small", version), ...texts, make("div", "scroll", table(heads, rows)), ...notes));
  }
}
