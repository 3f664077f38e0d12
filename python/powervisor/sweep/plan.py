"""What a sweep runs: its file, and the runs that it makes of that."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tqdm import tqdm

from powervisor.command import PowerVisorError, call_for_json, settings_as_arguments
from powervisor.sweep.fingerprint import fingerprint, hash_of

#: What stands among the experiments for `powervisor calibrate`.
CALIBRATE = "calibrate"
#: The keys of a sweep file, and of what type each is.
KEYS: dict[str, type] = {
    "name": str,
    "experiments": list,
    "machine": str,
    "variants": dict,
    "seeds": list,
    "guesses": str,
    "grid": dict,
}
#: What can be done with guesses: nothing; the ends of all together in each run; or a run for each end of each guess.
GUESSES = ("values", "ends", "each")
#: How a type is called in a complaint.
CALLED: dict[type, str] = {str: "a text", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class Run:
    """One run of a sweep: a whole configuration."""

    #: Hash of everything that decides the result.
    key: str
    experiment: str
    #: None of calibrate, which has none.
    variant: str | None
    machine: str
    seed: int
    #: Values of the machine's description, by their whole keys.
    settings: dict[str, float]
    #: Whether it runs with all guesses at their ends too.
    has_ends: bool
    #: Which guess is at which of its ends (``low`` or ``high``), if one is.
    guess: str | None = None
    end: str | None = None


@dataclass(frozen=True)
class Plan:
    """A sweep, checked, and its runs in order."""

    name: str
    text: str
    runs: list[Run] = field(default_factory=list)

    @classmethod
    def read(cls, name: str | Path) -> Plan:
        """Read a sweep file, or take the one with this name that comes with the package, such as ``sensitivity``."""
        path = Path(name)
        packaged = resources.files("powervisor") / "sweeps" / f"{name}.toml"
        try:
            found = packaged if path.suffix == "" and not path.exists() and packaged.is_file() else path
            text = found.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise PowerVisorError(f"{name}: cannot be read: {why}; it must be a sweep file") from None
        return _Reader(str(name), text, path.parent).plan()


class _Reader:
    """Reads one sweep file."""

    def __init__(self, place: str, text: str, folder: Path) -> None:
        self.place = place
        self.folder = folder
        self.text = text
        try:
            self.table: dict[str, Any] = tomlkit.parse(text).unwrap()
        except TOMLKitError as error:
            raise self.wrong(f"{error}; it must be valid TOML") from None

    def wrong(self, text: str) -> PowerVisorError:
        return PowerVisorError(f"{self.place}: {text}")

    def plan(self) -> Plan:
        self.check_keys()
        machine = self.resolved(self.table.get("machine", "power9"))
        base = call_for_json(["show", machine])
        grid = self.grid(machine, base["parameters"])
        guesses = self.table.get("guesses", GUESSES[0])
        if guesses not in GUESSES:
            raise self.wrong(f"guesses = {guesses!r}; it must be one of {', '.join(GUESSES)}")
        if guesses == "each" and "grid" in self.table:
            raise self.wrong('guesses = "each" says what moves one machine; leave out `grid`')
        moves = self.moves(base["parameters"]) if guesses == "each" else [(None, None, {})]
        common = {"command": fingerprint(), "machine": base["config_hash"], "ends": guesses == "ends"}
        runs = []
        points = list(itertools.product(self.experiments(), grid, moves))
        # One of many points takes a while to plan.
        for (experiment, text_hash, variants), point, (guess, end, moved) in tqdm(points, "plan", delay=2, leave=False):
            seeds = [1] if experiment == CALIBRATE else self.seeds()
            for variant, seed in itertools.product(variants, seeds):
                settings = point | moved
                what = common | {"experiment": text_hash, "variant": variant, "seed": seed, "settings": settings}
                key = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]
                runs.append(Run(key, experiment, variant, machine, seed, settings, guesses == "ends", guess, end))
        return Plan(self.name(), self.text, list({run.key: run for run in reversed(runs)}.values())[::-1])

    def check_keys(self) -> None:
        for key, value in self.table.items():
            if key not in KEYS:
                near = difflib.get_close_matches(key, KEYS, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(KEYS)}"
                raise self.wrong(f"unknown key `{key}`; {hint}")
            expected = KEYS[key]
            if not isinstance(value, expected):
                raise self.wrong(f"`{key}` is {value!r}; it must be {CALLED[expected]}")
        for key in ("experiments", "seeds", "grid"):
            if key in self.table and not self.table[key]:
                raise self.wrong(f"`{key}` is empty, so nothing would run; give it a value or leave it out")
        if "experiments" not in self.table:
            raise self.wrong("the key `experiments` is missing; add a line `experiments = [...]`")

    def name(self) -> str:
        name = str(self.table.get("name", Path(self.place).stem))
        if not name or Path(name).name != name or name in {".", ".."}:
            raise self.wrong(f"`name` is {name!r}; it must be a name, without a folder")
        return name

    def seeds(self) -> list[int]:
        seeds = self.table.get("seeds", [1])
        for seed in seeds:
            if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
                raise self.wrong(f"the seed {seed!r} is none; it must be a whole number, 0 or more, below 2^64")
        return list(seeds)

    def resolved(self, name: str) -> str:
        """Take a path relative to the file's folder, and a name as it is."""
        return str((self.folder / name).resolve()) if name.endswith(".toml") else name

    def experiments(self) -> list[tuple[str, str, list[str | None]]]:
        """List each experiment with a hash of its file and payload, and its variants."""
        chosen = self.table.get("variants", {})
        found: list[tuple[str, str, list[str | None]]] = []
        names = [str(name) for name in self.table["experiments"]]
        # The name is what the results have of an experiment.
        stems = [Path(name).stem for name in names]
        for index, stem in enumerate(stems):
            if stem in stems[:index]:
                one, other = names[stems.index(stem)], names[index]
                raise self.wrong(f"`{one}` and `{other}` are both called {stem}; give one of them another name")
        for name in names:
            if name == CALIBRATE:
                found.append((name, name, [None]))
                continue
            path = self.resolved(name)
            known = call_for_json(["show", path])["variants"]
            wanted = chosen.get(name, known)
            for variant in wanted:
                if variant not in known:
                    near = difflib.get_close_matches(str(variant), known, 1) or known
                    raise self.wrong(f"{name} has no variant `{variant}`; there is `{near[0]}`")
            if not wanted:
                raise self.wrong(f"no variant of {name} is left; name one or leave it out")
            found.append((path, hash_of(path), list(wanted)))
        unused = sorted(set(chosen) - set(self.table["experiments"]))
        if unused:
            words = ", ".join(f"`{name}`" for name in map(str, self.table["experiments"]))
            raise self.wrong(f"variants are of `{unused[0]}`; the experiments are {words}, and `variants` has the same words")
        return found

    def grid(self, machine: str, parameters: list[dict[str, Any]]) -> list[dict[str, float]]:
        """List the points of the grid, by whole keys; each value is checked alone."""
        whole = [parameter["key"] for parameter in parameters]
        axes: list[list[tuple[str, float]]] = []
        for key, values in _flat(self.table.get("grid", {})):
            if not isinstance(values, list) or not values:
                raise self.wrong(f"`grid.{key}` is {values!r}; it must be a list of numbers")
            for value in values:
                if not isinstance(value, (int, float)) or isinstance(value, bool):
                    raise self.wrong(f"`grid.{key}` has {value!r}; it must be a list of numbers")
                try:
                    call_for_json(["show", machine, *settings_as_arguments({key: value})])
                except PowerVisorError as error:
                    raise self.wrong(f"grid: {str(error).removeprefix('--set: ')}") from None
            matches = [name for name in whole if name == key or name.endswith("." + key)]
            full = matches[0] if matches else key
            if any(axis[0][0] == full for axis in axes):
                raise self.wrong(f"grid: `{full}` is there twice; give all of its values in one list")
            axes.append([(full, value) for value in values])
        return [dict(point) for point in itertools.product(*axes)]

    def moves(self, parameters: list[dict[str, Any]]) -> list[tuple[str | None, str | None, dict[str, float]]]:
        """List the values themselves, and each guess at each of its ends."""
        ends = [
            (parameter["key"], end, {parameter["key"]: parameter[end]})
            for parameter in parameters
            for end in ("low", "high")
            if parameter["confidence"] == "guess" and parameter[end] not in (None, parameter["value"])
        ]
        return [(None, None, {}), *ends]


def _flat(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """List the keys of a table: TOML reads a key with dots, unquoted, as tables in tables."""
    found = []
    for key, value in table.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)]
    return found
