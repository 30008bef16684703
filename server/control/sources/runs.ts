/**
 * Runs of the conformance suite or of a simulated fleet against this server, started from the
 * console. The embedding code supplies the function that starts them.
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import {
  type OnSubscriptionEnd,
  type Subscriber,
  Subscribers,
} from '../../../fixtures/base/subscribers.ts';
import type { BodyOf, ResponseOf } from '../../../fixtures/control/operations.ts';

export type RunRequest = BodyOf<'POST /runs'>;

/** The process of a run that the console started. */
interface StartedRun {
  stop(): void;
  /** Resolves with the exit code, or null if the run was stopped; never rejects. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts a run and passes on each line of its output. Returns undefined if no run can start yet.
 */
export type RunStarter = (
  request: RunRequest,
  onLine: (line: string) => void,
) => StartedRun | undefined;

type RunView = ResponseOf<'POST /runs'>;

/** Maximum number of remembered runs. */
const RUNS_MAX = 10;
/**
 * Maximum number of stored lines of a run, and maximum length of a line. The suite writes one line
 * per case.
 */
const LINES_MAX = 5000;
const LINE_MAX_CHARACTERS = 262_144;

interface ConsoleRun {
  readonly id: number;
  readonly request: RunRequest;
  readonly startedMs: number;
  readonly lines: string[];
  readonly subscribers: Subscribers<string>;
  leftOut: number;
  started?: StartedRun;
  exitCode?: number | null;
}

/** The runs of one server. Only one run is in progress at a time. */
export class Runs {
  readonly #start: RunStarter | undefined;
  readonly #clock: Clock;
  readonly #runs: ConsoleRun[] = [];
  #lastId = 0;

  constructor(start: RunStarter | undefined, clock: Clock) {
    this.#start = start;
    this.#clock = clock;
  }

  /** False if the server was started without a function that starts runs. */
  get isAvailable(): boolean {
    return this.#start !== undefined;
  }

  /** Starts a run, unless another one is in progress or no run can start yet. */
  start(request: RunRequest): RunView | 'running' | 'not ready' {
    if (this.#runs.some(isRunning)) return 'running';
    const subscribers = new Subscribers<string>();
    const startedMs = this.#clock.now();
    const id = this.#lastId + 1;
    const run: ConsoleRun = { id, request, startedMs, lines: [], leftOut: 0, subscribers };
    const started = this.#start?.(request, (line) => keepLine(run, line));
    if (!started) return 'not ready';
    run.started = started;
    this.#lastId = id;
    this.#runs.push(run);
    this.#runs.splice(0, this.#runs.length - RUNS_MAX);
    void started.ended.then((exitCode) => {
      run.exitCode = exitCode;
      subscribers.publish(endLine(run));
    });
    return viewOf(run);
  }

  /** The recorded runs, newest first. */
  list(): RunView[] {
    return this.#runs.map(viewOf).toReversed();
  }

  /** Stops a run. Returns false if it is not in progress. */
  stop(id: number): boolean {
    const run = this.#runs.find((each) => each.id === id && isRunning(each));
    run?.started?.stop();
    return run !== undefined;
  }

  /**
   * Passes all lines of a run, past and future, to the subscriber. Returns a function that ends the
   * subscription, or undefined if there is no such run.
   */
  follow(
    id: number,
    subscriber: Subscriber<string>,
    ended: OnSubscriptionEnd,
  ): (() => void) | undefined {
    const run = this.#runs.find((each) => each.id === id);
    if (!run) return undefined;
    for (const line of run.lines) subscriber(line);
    if (!isRunning(run)) subscriber(endLine(run));
    return run.subscribers.add(subscriber, ended);
  }

  /** Returns true if there is a run with this ID. */
  has(id: number): boolean {
    return this.#runs.some((each) => each.id === id);
  }

  /** Stops all runs that are still running. */
  close(): void {
    for (const run of this.#runs.filter(isRunning)) run.started?.stop();
  }
}

function isRunning(run: ConsoleRun): boolean {
  return run.exitCode === undefined;
}

function keepLine(run: ConsoleRun, line: string): void {
  if (run.lines.length >= LINES_MAX || line.length > LINE_MAX_CHARACTERS) {
    run.leftOut += 1;
    return;
  }
  run.lines.push(line);
  run.subscribers.publish(line);
}

/** Returns the line that follows the last output line of a run. */
function endLine({ exitCode = null, leftOut }: ConsoleRun): string {
  return JSON.stringify({ type: 'exit', exitCode, ...(leftOut > 0 && { leftOut }) });
}

function viewOf(run: ConsoleRun): RunView {
  const { id, request, startedMs, lines, leftOut, exitCode } = run;
  return {
    id,
    request,
    startedAt: new Date(startedMs).toISOString(),
    state: isRunning(run) ? 'running' : 'ended',
    ...(exitCode !== undefined && { exitCode }),
    lines: lines.length,
    ...(leftOut > 0 && { leftOut }),
  };
}
