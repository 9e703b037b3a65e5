"use strict";
(() => {
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const byText = new Intl.Collator("en", { numeric: true }).compare;
  const shown = (value) => (value === null ? "–" : String(Number(value.toFixed(3))));

  // "0.53 [0.43, 0.62]" counts as 0.53; words come last, whichever way a column is sorted.
  const leading = (text) => {
    const found = text.replace("−", "-").match(/^[^\d+-]?([+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)/i);
    return found ? Number(found[1].replaceAll(",", "")) : NaN;
  };

  // Makes the heads of a table buttons. order(column, direction) sets the rows; direction is
  // "ascending", "descending" or "none" for the order in which they came.
  const sortable = (table, first, order) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const second = first(column) === "descending" ? "ascending" : "descending";
        const next = { none: first(column), [first(column)]: second, [second]: "none" };
        const direction = next[head.getAttribute("aria-sort")];
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", direction);
        order(column, direction);
      });
    });
  };

  const sorted = (entries, key, direction) => {
    const sign = direction === "descending" ? -1 : 1;
    if (direction === "none") return [...entries];
    return [...entries].sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      if (typeof left === "string") return sign * byText(left, right);
      if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
      return sign * (left - right);
    });
  };

  for (const table of document.querySelectorAll("table.grid")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const text = (row, column) => row.cells[column].textContent.trim();
    const numeric = (column) => rows.some((row) => !Number.isNaN(leading(text(row, column))));
    for (const cell of body.querySelectorAll("td")) {
      if (cell.textContent.length > 40) cell.classList.add("words");
    }
    sortable(
      table,
      (column) => (column && numeric(column) ? "descending" : "ascending"),
      (column, direction) => {
        const key = (row) =>
          column && numeric(column) ? leading(text(row, column)) : text(row, column);
        body.append(...sorted(rows, key, direction));
      },
    );
  }

  const select = (options) => make("select", {}, ...options.map(([value, label]) => new Option(label, value)));
  const field = (label, control) => make("label", {}, label, control);
  const tags = (item) => [
    ...(item & 1 ? [make("span", { className: "tag gold" }, "gold")] : []),
    ...(item & 2 ? [make("span", { className: "tag stale" }, "stale")] : []),
  ];

  const methodView = (data, name, answer, open) => {
    if (!answer) return make("p", { className: "method" }, name, make("span", { className: "figures missing" }, "not run"));
    const [values, items, answers] = answer;
    const ranks = (bit) => items.flatMap((item, rank) => (item & bit ? [rank + 1] : [])).join(", ");
    const figures = [
      ...data.metrics.map((metric, n) => `${metric} ${shown(values[n])}`),
      ranks(1) ? `gold at ${ranks(1)}` : "no gold",
      ...(ranks(2) ? [`stale at ${ranks(2)}`] : []),
    ];
    const list = make("ol", {}, ...items.map((item) => {
      const [id, text, cut] = data.texts[item >> 2];
      const rest = cut ? make("span", { className: "item" }, `… (${cut.toLocaleString("en")} more characters)`) : "";
      return make("li", {}, ...tags(item), text, rest, make("span", { className: "item" }, ` ${id}`));
    }));
    return make(
      "details", { className: "method", open },
      make("summary", {}, make("strong", {}, name), make("span", { className: "figures" }, figures.join(" · "))),
      ...answers.map((text) => make("p", {}, "Answer: ", text)),
      items.length ? list : make("p", { className: "missing" }, "Returned nothing."),
    );
  };

  const detail = (data, question, chosen) => {
    const facts = [
      ["Question", question.question],
      ["Gold", question.gold.join("\n") || "none"],
      ["Kind", question.kind],
      ["Lost by", question.lost_by.join(", ") || "no ablation"],
      ["Id", question.id],
    ];
    const wanted = data.methods.map((name, n) => [name, n]).filter(([, n]) => chosen < 0 || n === chosen);
    return make("td", { colSpan: 4 },
      make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
      ...wanted.map(([name, n]) => methodView(data, name, question.answers[n], wanted.length < 4)));
  };

  const OUTCOMES = [
    ["", "any"], ["right", "right (1) for all shown"], ["wrong", "wrong (0) for all shown"],
    ["mixed", "mixed or in between"], ["none", "no value"],
  ];

  const drilldown = (section, number) => {
    const data = JSON.parse(section.querySelector("script").textContent);
    const search = make("input", { type: "search", autocomplete: "off" });
    const method = select([["-1", "all"], ...data.methods.map((name, n) => [String(n), name])]);
    const metric = select(data.metrics.map((name, n) => [String(n), name]));
    const outcome = select(OUTCOMES);
    const lost = select([["", "any or none"], ["-1", "no ablation"], ...data.lost_by.map((name, n) => [String(n), name])]);
    const count = make("p", { className: "count" });
    count.setAttribute("role", "status");
    const body = make("tbody");
    const heads = ["Question", "Kind", "Value", "Lost by"].map((name) => make("th", { scope: "col" }, name));
    const table = make("table", { className: "questions" }, make("thead", {}, make("tr", {}, ...heads)), body);
    const state = { column: 0, direction: "none" };

    const values = (question) =>
      question.answers
        .filter((answer, n) => answer && (method.value === "-1" || String(n) === method.value))
        .map((answer) => answer[0][Number(metric.value)])
        .filter((value) => value !== null && value !== undefined);
    const mean = (question) => {
      const found = values(question);
      return found.length ? found.reduce((a, b) => a + b, 0) / found.length : NaN;
    };
    const outcomeOf = (question) => {
      const found = values(question);
      if (!found.length) return "none";
      if (found.every((value) => value >= 1)) return "right";
      return found.every((value) => value <= 0) ? "wrong" : "mixed";
    };
    const isLost = (question) =>
      lost.value === "" ||
      (lost.value === "-1" ? !question.lost_by.length : question.lost_by.includes(data.lost_by[Number(lost.value)]));

    const rows = data.questions.map((question, place) => {
      const id = `question-${number}-${place}`;
      const button = make("button", { type: "button", className: "expand" }, question.question);
      const value = make("td");
      const row = make("tr", {}, make("td", {}, button), make("td", {}, question.kind), value,
        make("td", { className: "lost" }, question.lost_by.join(", ")));
      const more = make("tr", { className: "detail", hidden: true, id });
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-controls", id);
      button.addEventListener("click", () => {
        more.hidden = !more.hidden;
        button.setAttribute("aria-expanded", String(!more.hidden));
        more.replaceChildren(...(more.hidden ? [] : [detail(data, question, Number(method.value))]));
      });
      const words = [question.id, question.question, ...question.gold].join("\n").toLowerCase();
      return { question, row, more, value, words };
    });

    const refresh = () => {
      const wanted = search.value.trim().toLowerCase();
      const fits = rows.filter(({ question, words }) =>
        words.includes(wanted) && isLost(question) && (!outcome.value || outcomeOf(question) === outcome.value));
      const keys = [
        ({ question }) => question.question, ({ question }) => question.kind,
        ({ question }) => mean(question), ({ question }) => question.lost_by.length,
      ];
      for (const { question, value } of rows) {
        const average = mean(question);
        value.textContent = shown(Number.isNaN(average) ? null : average);
      }
      body.replaceChildren(...sorted(fits, keys[state.column], state.direction).flatMap(({ row, more }) => [row, more]));
      const of = method.value === "-1" ? "mean over methods" : method.selectedOptions[0].text;
      const measured = data.metrics.length ? ` Value: ${data.metrics[Number(metric.value)]}, ${of}.` : "";
      count.textContent = `${fits.length} of ${rows.length} questions.${measured}`;
    };
    const reopen = () => {
      for (const { question, more } of rows) {
        if (!more.hidden) more.replaceChildren(detail(data, question, Number(method.value)));
      }
    };

    sortable(table, (column) => (column < 2 ? "ascending" : "descending"), (column, direction) => {
      Object.assign(state, { column, direction });
      refresh();
    });
    section.append(
      make("div", { className: "controls" }, field("Text or id", search), field("Method", method),
        field("Metric", metric), field("Outcome", outcome), field("Lost by which ablation", lost)),
      count, make("div", { className: "scroll" }, table));
    [search, metric, outcome, lost].forEach((control) => control.addEventListener("input", refresh));
    method.addEventListener("input", () => { refresh(); reopen(); });
    refresh();
  };
  document.querySelectorAll(".drilldown").forEach(drilldown);

  // A sandboxed frame may refuse to follow even links within the page.
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      const target = document.getElementById(link.hash.slice(1));
      event.preventDefault();
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    });
  }
  if (matchMedia("(max-width: 69.99rem)").matches) document.querySelector("nav details")?.removeAttribute("open");
})();
