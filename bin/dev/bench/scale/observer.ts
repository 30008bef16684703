/**
 * Observes its own process between the HTTP requests `/begin` and `/end`: memory, stalls of the
 * event loop, and connections.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, type Timer } from '../../../../fixtures/base/clock.ts';
import { memoryNow, type ProcessMemory } from '../memory.ts';

/** The observed figures from `begin` to `end`. */
export interface ProcessObservation {
  /** Memory at the begin and at the end, each after a garbage collection. */
  readonly memoryBefore: ProcessMemory;
  readonly memoryAfter: ProcessMemory;
  /** Greatest resident memory in between, in bytes. */
  readonly residentPeak: number;
  /**
   * The longest work that blocked the event loop, without the time in which other processes ran.
   */
  readonly longestStallMs: number;
  /** The longest delay of the event loop by the wall clock. */
  readonly longestDelayMs: number;
  /** TCP connections at the end. */
  readonly connections: number;
}

const TICK_MS = 2;
const MEMORY_EVERY_TICKS = 5;

/** Listens on a free port of the loopback interface. @returns the URL of the observer */
export async function observe(): Promise<string> {
  let observer = new Observer();
  const server = createServer(async (request, response) => {
    if (request.url === '/begin') {
      observer = new Observer();
      await observer.begin();
      response.end();
    } else response.end(JSON.stringify(await observer.end()));
  });
  await startListening(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

class Observer {
  #memoryBefore: ProcessMemory = { resident: 0, used: 0 };
  #residentPeak = 0;
  #longestStallMs = 0;
  #longestDelayMs = 0;
  #lookedMs = 0;
  #cpuMs = 0;
  #ticks = 0;
  #timer: Timer | undefined;

  async begin(): Promise<void> {
    this.#memoryBefore = await memoryNow();
    this.#residentPeak = this.#memoryBefore.resident;
    // The time of the garbage collection must not count as a stall of the server.
    this.#look();
    this.#timer = systemClock.every(TICK_MS, () => this.#tick());
  }

  async end(): Promise<ProcessObservation> {
    this.#tick();
    this.#timer?.cancel();
    return {
      memoryBefore: this.#memoryBefore,
      memoryAfter: await memoryNow(),
      residentPeak: this.#residentPeak,
      longestStallMs: this.#longestStallMs,
      longestDelayMs: this.#longestDelayMs,
      connections: connections(),
    };
  }

  #tick(): void {
    const delayMs = systemClock.monotonicMs() - this.#lookedMs - TICK_MS;
    // The event loop does no work while the system runs other processes.
    const stallMs = Math.min(delayMs, cpuMs() - this.#cpuMs);
    this.#longestDelayMs = Math.max(this.#longestDelayMs, delayMs);
    this.#longestStallMs = Math.max(this.#longestStallMs, stallMs);
    this.#ticks += 1;
    if (this.#ticks % MEMORY_EVERY_TICKS === 0) {
      this.#residentPeak = Math.max(this.#residentPeak, process.memoryUsage.rss());
    }
    this.#look();
  }

  #look(): void {
    this.#lookedMs = systemClock.monotonicMs();
    this.#cpuMs = cpuMs();
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function connections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

function startListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}
