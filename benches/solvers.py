"""The exact solvers beside others, on the instances of tests/vectors/solver.json, in one run on this machine.

    python3 -m venv /somewhere && /somewhere/bin/pip install highspy numpy torch
    /somewhere/bin/python benches/solvers.py [--highs-limit 60] [--knapsack-every 1]

Others: HiGHS (highspy) with gap 0 as a mixed-integer programme; PyTorch's own knapsack solvers (greedy, dp, and ilp, which needs
scipy), those that can be imported. Ours: benches/solver.rs, built with optimization and timed inside the process, the least of up to
15 runs; the others are timed around their call, model building left out for HiGHS. One thread each. Not part of the tests.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def ours():
    command = ["cargo", "bench", "--no-default-features", "--bench", "solver", "--", "--json"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def highs_model(limit):
    import highspy

    model = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
        "threads": 1,
        "time_limit": float(limit),
    }.items():
        model.setOptionValue(option, value)
    return model


def solved(model):
    start = time.perf_counter()
    model.run()
    seconds = time.perf_counter() - start
    proved = model.modelStatusToString(model.getModelStatus()) == "Optimal"
    return seconds, model.getInfo().objective_function_value, proved


def highs_knapsack(sizes, runtimes, budget, limit):
    model = highs_model(limit)
    unit = max(runtimes)  # tolerances are absolute: the objective is brought near 1
    keep = [model.addBinary(obj=-runtime / unit) for runtime in runtimes]
    model.addConstr(sum(size / budget * x for size, x in zip(sizes, keep)) <= 1)
    seconds, value, proved = solved(model)
    return seconds, -value * unit, proved


def highs_four_choice(row, limit):
    model = highs_model(limit)
    sizes, unit = row["size_bytes"], 1e9
    exposed = model.addVariable(lb=0, obj=1)
    columns = []
    for seconds in row["recompute_s"]:
        columns.append([model.addBinary(obj=cost) for cost in (0, seconds, 0, 0)])
        model.addConstr(sum(columns[-1]) == 1)
    total = lambda terms: sum(bytes_ / unit * x for bytes_, x in terms)
    kept = total((size, x[0]) for size, x in zip(sizes, columns))
    residual = total((size, x[1]) for size, x in zip(row["recompute_residual_bytes"], columns))
    host = total((size, x[2]) for size, x in zip(sizes, columns))
    ssd = total((size, x[3]) for size, x in zip(sizes, columns))
    model.addConstr(kept + residual <= row["memory_limit_bytes"] / unit)
    model.addConstr(host <= row["host_limit_bytes"] / unit)
    link_s = 2 * unit / row["cpu_link_bandwidth_bytes_per_s"]
    ssd_s = unit / row["ssd_write_bandwidth_bytes_per_s"] + unit / row["ssd_read_bandwidth_bytes_per_s"]
    model.addConstr(link_s * (host + ssd) - exposed <= row["hidden_s"])
    model.addConstr(ssd_s * ssd - exposed <= row["hidden_s"])
    return solved(model)


def torch_solvers():
    try:
        from torch._functorch._activation_checkpointing import knapsack
    except ImportError:
        return {}
    found = {"greedy": knapsack.greedy_knapsack, "dp": knapsack.dp_knapsack}
    try:
        import scipy  # noqa: F401

        found["ilp"] = knapsack.ilp_knapsack
    except ImportError:
        print("scipy is not there: PyTorch's ilp is left out")
    return found


def milliseconds(seconds):
    return f"{1e3 * seconds:.4f}" if seconds < 1e-3 else f"{1e3 * seconds:.2f}"


def four_choice(vectors, mine, limit):
    print("\n## Four choices a layer\n")
    print("| instance | ours, ms | HiGHS, ms | ours, s | HiGHS, s | proved by us | by HiGHS |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    pairs = []
    for row in vectors["four_choice"]:
        own = mine["four_choice", row["id"]]
        seconds, value, proved = highs_four_choice(row, limit)
        pairs.append((own["solve_s"], seconds))
        cells = [row["id"], milliseconds(own["solve_s"]), milliseconds(seconds)]
        cells += [f"{own['value']:.12g}", f"{value:.12g}", own["optimal"], proved]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    for name, of in [("median", statistics.median), ("total", sum)]:
        values = [milliseconds(of([pair[i] for pair in pairs])) for i in (0, 1)]
        print(f"| {name} | {values[0]} | {values[1]} | | | | |")


def knapsacks(vectors, mine, limit, every):
    print("\n## Knapsack\n")
    instances = {row["id"]: row for row in vectors["knapsack_instances"]}
    others = torch_solvers()
    results = {}
    for case in vectors["knapsack"][::every]:
        row, budget = instances[case["instance"]], case["budget_bytes"]
        own = mine["knapsack", f"{row['id']}/{budget}"]
        best = own["value"]
        here = results.setdefault(row["n"], {})
        here.setdefault("ours", []).append((own["solve_s"], True, own["optimal"]))
        sizes, runtimes = row["size_bytes"], row["runtime_s"]
        seconds, value, proved = highs_knapsack(sizes, runtimes, budget, limit)
        here.setdefault("HiGHS", []).append((seconds, True, proved and value >= best * (1 - 1e-9)))
        assert value <= best * (1 + 1e-6), (row["id"], budget, value, best)
        for name, solve in others.items():
            # Shares of all bytes, as PyTorch's own partitioner passes them.
            total = sum(sizes)
            shares = [size / total for size in sizes]
            start = time.perf_counter()
            _, kept, _ = solve(shares, runtimes, budget / total)
            seconds = time.perf_counter() - start
            fits = sum(sizes[i] for i in kept) <= budget
            value = sum(runtimes[i] for i in kept)
            here.setdefault(f"PyTorch {name}", []).append((seconds, fits, fits and value >= best * (1 - 1e-9)))
    print("| n | solver | cases | median, ms | max, ms | over budget | optimal | times ours |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for n, solvers in sorted(results.items()):
        median = {name: statistics.median(run[0] for run in runs) for name, runs in solvers.items()}
        for name, runs in solvers.items():
            cells = [n, name, len(runs), milliseconds(median[name]), milliseconds(max(run[0] for run in runs))]
            cells += [sum(not run[1] for run in runs), sum(bool(run[2]) for run in runs)]
            cells.append(f"{median[name] / median['ours']:.0f}")
            print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--highs-limit", type=float, default=60, help="seconds HiGHS may take for one instance")
    parser.add_argument("--knapsack-every", type=int, default=1, help="only every n-th knapsack case")
    args = parser.parse_args()
    vectors = json.loads((ROOT / "tests/vectors/solver.json").read_text())
    highs_model(args.highs_limit)  # its banner comes first
    rows = ours()
    mine = {(row["kind"], row["id"]): row for row in rows}
    four_choice(vectors, mine, args.highs_limit)
    knapsacks(vectors, mine, args.highs_limit, args.knapsack_every)
    for kind, title in [("front", "Exact fronts"), ("kinds", "Few kinds of layer"), ("hard", "Hard shapes")]:
        print(f"\n## {title}, ours\n\n| case | ms | proved | gap |\n| --- | --- | --- | --- |")
        for row in rows:
            if row["kind"] == kind:
                print(f"| {row['id']} | {milliseconds(row['solve_s'])} | {row['optimal']} | {row.get('gap', '')} |")


if __name__ == "__main__":
    main()
