/**
 * Shows the progress of a run: a redrawn frame on a terminal, occasional lines elsewhere. The frame
 * is removed after the run.
 */
import { createLogUpdate } from 'log-update';
import type { FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import { progressLine } from '../../../simulator/report/text.ts';
import { isProgressOmitted, type Output } from '../../output/output.ts';
import { endedCount, liveFrame, type Rates } from './live-frame.ts';

/** Shows the progress of a run. Call `close` before printing the result. */
export interface LiveView {
  /** Prints text above the frame. */
  above(say: () => void): void;
  show(progress: FleetProgress): void;
  close(): void;
}

/** The options of a live view. */
export interface LiveViewOptions {
  /** Title of the run, such as `10 devices against http://127.0.0.1:8080, seed "x"`. */
  readonly title: string;
  readonly output: Output;
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal;
  readonly stream?: NodeJS.WriteStream;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Width of a terminal that does not report its size. */
const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;
const LINE_EVERY_MS = 5000;
/** Least interval between two redraws. Progress arrives once a second. */
const DRAWN_EVERY_MS = 200;
/** Time window over which rates are computed. */
const RATE_WINDOW_MS = 5000;
const SAMPLES_MAX = 64;

/** Returns the view that fits the stream: frames on a terminal, lines elsewhere. */
export function openLiveView(options: LiveViewOptions): LiveView {
  const { stream = process.stderr, environment = process.env } = options;
  const isTerminal = stream.isTTY === true && environment.TERM !== 'dumb' && !isProgressOmitted();
  return isTerminal ? new TerminalView(options) : new LineView(options.output);
}

class LineView implements LiveView {
  readonly #output: Output;
  readonly #rates = new RateGauge();
  #dueMs = LINE_EVERY_MS;

  constructor(output: Output) {
    this.#output = output;
  }

  show(progress: FleetProgress): void {
    const rates = this.#rates.after(progress);
    if (progress.elapsedMs < this.#dueMs) return;
    this.#dueMs = progress.elapsedMs + LINE_EVERY_MS;
    const [worst] = progress.causes;
    const mostFrequent =
      worst === undefined ? '' : `, most frequent error: ${worst.operation} ${worst.cause}`;
    this.#output.progress(
      `${progressLine(progress)}, ${rates.exchanges.toFixed(0)}/s${mostFrequent}`,
    );
  }

  above(say: () => void): void {
    say();
  }

  close(): void {
    // Every line has been printed already.
  }
}

class TerminalView implements LiveView {
  readonly #options: LiveViewOptions;
  readonly #stream: NodeJS.WriteStream;
  readonly #colour: boolean;
  readonly #draw: ReturnType<typeof createLogUpdate>;
  readonly #rates = new RateGauge();
  #drawnMs = Number.NEGATIVE_INFINITY;
  #last: (() => void) | undefined;
  readonly #drawAgain = (): void => this.#last?.();

  constructor(options: LiveViewOptions) {
    const { stream = process.stderr, environment = process.env, signal } = options;
    this.#options = options;
    this.#stream = stream;
    // https://no-color.org: any non-empty value turns colours off.
    this.#colour = (environment.NO_COLOR ?? '') === '';
    this.#draw = createLogUpdate(stream);
    signal.addEventListener('abort', this.#drawAgain, { once: true });
  }

  show(progress: FleetProgress): void {
    const rates = this.#rates.after(progress);
    this.#last = () => this.#drawFrame(progress, rates);
    if (progress.elapsedMs - this.#drawnMs < DRAWN_EVERY_MS) return;
    this.#drawnMs = progress.elapsedMs;
    this.#last();
  }

  above(say: () => void): void {
    this.#draw.clear();
    say();
    this.#last?.();
  }

  close(): void {
    this.#options.signal.removeEventListener('abort', this.#drawAgain);
    this.#last = undefined;
    this.#draw.clear();
    this.#draw.done();
  }

  #drawFrame(progress: FleetProgress, rates: Rates): void {
    const { title, signal } = this.#options;
    const { columns = COLUMNS_DEFAULT, rows = ROWS_DEFAULT } = this.#stream;
    const size = { columns, rows, colour: this.#colour };
    this.#draw(liveFrame({ title, progress, rates, ending: signal.aborted }, size));
  }
}

interface RateSample extends Rates {
  readonly elapsedMs: number;
}

/** Computes the rate of events per second over the last few seconds. */
class RateGauge {
  #samples: readonly RateSample[] = [];

  after({ elapsedMs, exchanges, errors, funnel }: FleetProgress): Rates {
    const sample = { elapsedMs, exchanges, errors, ended: endedCount(funnel) };
    const recent = this.#samples.filter((each) => elapsedMs - each.elapsedMs <= RATE_WINDOW_MS);
    const [first = { elapsedMs: 0, exchanges: 0, errors: 0, ended: 0 }] = recent;
    this.#samples = [...recent, sample].slice(-SAMPLES_MAX);
    const seconds = Math.max(1, sample.elapsedMs - first.elapsedMs) / 1000;
    return {
      exchanges: Math.max(0, exchanges - first.exchanges) / seconds,
      errors: Math.max(0, errors - first.errors) / seconds,
      ended: Math.max(0, sample.ended - first.ended) / seconds,
    };
  }
}
