/**
 * Watches the resources of the load-generating process during a run and reports its maxima at the
 * end.
 */
import type { ProcessFacts } from '../result/result-generator.ts';
import type { Machine } from './generator-machine.ts';

/** Numbers of sockets, connections and queued requests at one time. */
export interface OpenCounts {
  readonly sockets: number;
  readonly connections: number;
  /** Requests that are waiting for a connection. */
  readonly queued: number;
}

/** Stores the maximum of each resource. */
export class GeneratorWatch {
  readonly #machine: Machine;
  #memoryMaxBytes = 0;
  #socketsMax = 0;
  #connectionsMax = 0;
  #queuedMax = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Takes a sample. Call it about once a second. */
  recordCounts({ sockets, connections, queued }: OpenCounts): void {
    const { memoryBytes } = this.#machine.read();
    this.#memoryMaxBytes = Math.max(this.#memoryMaxBytes, memoryBytes);
    this.#socketsMax = Math.max(this.#socketsMax, sockets);
    this.#connectionsMax = Math.max(this.#connectionsMax, connections);
    this.#queuedMax = Math.max(this.#queuedMax, queued);
  }

  facts(shard: number, durationMs: number): ProcessFacts {
    const reading = this.#machine.read();
    const { loopBusyMs, loopIdleMs } = reading;
    const shareOf = (partMs: number): number => (durationMs > 0 ? partMs / durationMs : 0);
    return {
      shard,
      durationMs,
      cpuUserShare: shareOf(reading.cpuUserMs),
      cpuSystemShare: shareOf(reading.cpuSystemMs),
      loopBusyShare: loopBusyMs === 0 ? 0 : loopBusyMs / (loopBusyMs + loopIdleMs),
      eventLoopLagP99Ms: reading.eventLoopLagP99Ms,
      eventLoopLagMaxMs: reading.eventLoopLagMaxMs,
      collections: reading.collections,
      collectionShare: shareOf(reading.collectionMs),
      collectionMaxMs: reading.collectionMaxMs,
      memoryMaxBytes: this.#memoryMaxBytes,
      socketsMax: this.#socketsMax,
      connectionsMax: this.#connectionsMax,
      queuedMax: this.#queuedMax,
    };
  }

  close(): void {
    this.#machine.close();
  }
}
