/** The observers of a running fleet: the live view, the event stream and the metrics listener. */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Clock } from '../../../fixtures/base/clock.ts';
import type {
  FleetEnvironment,
  FleetEvent,
  FleetProgress,
  FleetResult,
} from '../../../simulator/engine/simulate-fleet.ts';
import { EventLines, type EventLinesCount } from '../../../simulator/report/events-lines.ts';
import { FleetMetrics } from '../../../simulator/report/prometheus.ts';
import { openForLines } from '../../output/files.ts';
import type { Output } from '../../output/output.ts';
import type { ListenAddress } from './listen-address.ts';
import { openLiveView } from './live-view.ts';
import { listenForScrapes, type MetricsListener } from './metrics-listener.ts';

/** The value of `--events` that selects standard output. */
export const STANDARD_OUTPUT = '-';

/** Where the events and the metrics of a run go; absent for nowhere. */
export interface RunObserversOptions {
  /** File of the event stream; `-` for standard output. */
  readonly events?: string;
  readonly metrics?: ListenAddress;
}

/** The dependencies of the observers. */
interface RunObserversDependencies {
  readonly clock: Clock;
  readonly output: Output;
  /** One-line title of the run for the live view. */
  readonly title: string;
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal;
}

/** The observers of a run. Call `close` after the run. */
export interface RunObservers {
  /** The callbacks to pass to the run. */
  readonly callbacks: Pick<FleetEnvironment, 'onEvent' | 'onEventsLost'>;
  show(progress: FleetProgress): void;
  /** The output for messages during the run; it does not disturb the live view. */
  readonly output: Output;
  /**
   * Waits until the last events are written, and prints how many events were lost.
   * @returns the counts of the event stream; an empty object without an event stream
   */
  close(): Promise<Pick<FleetResult, 'events'>>;
}

/**
 * Opens the requested observers before the run starts.
 * @throws CommandError when a file cannot be written, or the command cannot listen at the address
 */
export async function openRunObservers(
  { events, metrics }: RunObserversOptions,
  { clock, output, title, signal }: RunObserversDependencies,
): Promise<RunObservers> {
  const lines = events === undefined ? undefined : await eventLines(events, clock);
  const fleetMetrics = metrics && new FleetMetrics();
  let listener: MetricsListener | undefined;
  if (metrics && fleetMetrics) {
    listener = await listenForScrapes(metrics, () => {
      if (lines) fleetMetrics.recordEventLines(lines.count());
      return fleetMetrics.exposition();
    });
    output.progress(`metrics at ${listener.url}`);
  }
  const listeners = [lines?.record, fleetMetrics?.record].filter((each) => each !== undefined);
  const view = openLiveView({ title, output, signal });
  return {
    callbacks: {
      ...(listeners.length > 0 && { onEvent: notifyAll(listeners) }),
      ...(lines && { onEventsLost: (count: number) => lines.miss(count) }),
    },
    output: {
      json: output.json,
      data: (value) => view.above(() => output.data(value)),
      line: (text) => view.above(() => output.line(text)),
      progress: (text) => view.above(() => output.progress(text)),
      warn: (text) => view.above(() => output.warn(text)),
    },
    show: (progress) => {
      fleetMetrics?.recordProgress(progress);
      view.show(progress);
    },
    close: async () => {
      view.close();
      await listener?.close();
      if (lines === undefined || events === undefined) return {};
      const count = await lines.close();
      warnAboutLostLines(count, events, output);
      return { events: count };
    },
  };
}

async function eventLines(target: string, clock: Clock): Promise<EventLines> {
  if (target === STANDARD_OUTPUT) return new EventLines({ clock, stream: process.stdout });
  const fd = await openForLines('--events', target);
  const stream: Writable = createWriteStream(target, { fd });
  return new EventLines({ clock, stream });
}

function notifyAll(
  listeners: readonly ((event: FleetEvent) => void)[],
): (event: FleetEvent) => void {
  return (event) => {
    for (const listen of listeners) listen(event);
  };
}

function warnAboutLostLines(count: EventLinesCount, target: string, output: Output): void {
  const { written, lost, error } = count;
  if (lost === 0) return;
  const reason = error === undefined ? 'its reader was too slow' : `writing failed with ${error}`;
  const targetText = target === STANDARD_OUTPUT ? 'standard output' : target;
  output.warn(`events: ${lost} of ${lost + written} are missing in ${targetText}; ${reason}`);
}
