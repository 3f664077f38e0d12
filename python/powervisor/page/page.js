// Draws each plot of `plots` with the colours of the reader's scheme, again when that or the choice changes.
"use strict";

const scheme = matchMedia("(prefers-color-scheme: dark)");

function layoutOf(figure) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const line = style.getPropertyValue("--line").trim();
  const layout = { ...figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink } };
  for (const axis of ["xaxis", "yaxis"]) {
    layout[axis] = { ...layout[axis], gridcolor: line, zerolinecolor: line, linecolor: line };
  }
  return layout;
}

async function draw(place, figure) {
  delete place.dataset.drawn;
  // Plotly writes into what it is given.
  const copy = structuredClone(figure);
  await Plotly.react(place, copy.data, layoutOf(copy), { responsive: true, displaylogo: false });
  place.dataset.drawn = "yes";
}

for (const plot of plots) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = plot.title;
  const note = document.createElement("p");
  note.textContent = plot.note;
  const place = document.createElement("div");
  place.className = "plot";
  const names = Object.keys(plot.choices);
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", plot.title);
  choice.append(...names.map((name) => new Option(name, name)));
  const again = () => draw(place, plot.choices[choice.value]);
  choice.addEventListener("change", again);
  scheme.addEventListener("change", again);
  section.append(heading, note, ...(names.length > 1 ? [choice] : []), place);
  document.querySelector("main").append(section);
  again();
}
