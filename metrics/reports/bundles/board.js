// The page Leaderboard: the studio's heatmap; sorting, columns and density are kept while the page is open.
const boardView = { sort: null, down: true, shown: null, cells: null };

async function drawBoard(main) {
  const { board, notes, facts } = run;
  const every = board.heatmap;
  main.append(make("p", "muted", facts));
  const triggers = {
    sort: (key) => {
      boardView.down = !(boardView.sort === key && boardView.down);
      boardView.sort = key;
      redraw();
    },
    columns: (keys) => {
      boardView.shown = keys.length ? keys.map((key) => every.columns.findIndex((column) => column.key === key)) : null;
      redraw();
    },
    cells: (name) => {
      boardView.cells = name;
      redraw();
    },
  };
  const view = async () => boardPayload(every, board, await openCell());
  const viewer = put(main, "heatmap", await view(), triggers);
  const redraw = async () => viewer.draw(await view());
  main.redraw = redraw; // a click on a cell changes only the address
  for (const note of notes) main.append(make("p", "muted small", note));
}

function boardPayload(every, board, open) {
  const columns = boardView.shown || board.shown;
  const orders = board.orders[boardView.sort];
  const rows = orders ? orders[boardView.down ? "down" : "up"] : every.models.map((_, row) => row);
  const groups = [];
  for (const column of columns) {
    const title = every.every[column][1];
    if (groups.length && groups[groups.length - 1][0] === title) groups[groups.length - 1][1] += 1;
    else groups.push([title, 1]);
  }
  return {
    ...every, groups, open, cells_as: boardView.cells || every.cells_as,
    sort: { key: boardView.sort, down: boardView.down },
    models: rows.map((row) => every.models[row]), names: rows.map((row) => every.names[row]),
    columns: columns.map((column) => every.columns[column]),
    cells: rows.map((row) => columns.map((column) => every.cells[row][column])),
  };
}

// The drawer of the cell that the address names.
async function openCell() {
  const asked = new URL(location.href).searchParams;
  const [key, model] = [asked.get("cell"), asked.get("of")];
  const column = run.board.heatmap.columns.find((each) => each.key === key);
  if (!column || !run.models.includes(model)) return null;
  const metric = metricOf(key);
  const lists = await listsOf(metric, model);
  const number = lists.numbers[key];
  const rows = lists.lists[number.list].slice(0, 20).map((row) => caseRow(row, lists, metric, model));
  return { key, model, title: number.title, facts: number.facts, links: number.links, cases: rows };
}
