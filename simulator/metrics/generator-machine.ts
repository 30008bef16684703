/** Measurements of this process's resources. No other file requests them from Node. */
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import {
  type EventLoopUtilization,
  monitorEventLoopDelay,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import type { MachineFacts } from '../result/result-machines.ts';

/** Resources that a process has used since its watch began. */
export interface MachineReading {
  readonly cpuUserMs: number;
  readonly cpuSystemMs: number;
  /** Milliseconds during which the event loop was busy, and was idle. */
  readonly loopBusyMs: number;
  readonly loopIdleMs: number;
  readonly memoryBytes: number;
  readonly collections: number;
  readonly collectionMs: number;
  readonly collectionMaxMs: number;
  readonly eventLoopLagP99Ms: number;
  readonly eventLoopLagMaxMs: number;
}

/** Access to the resource measurements of a process. */
export interface Machine {
  /** Returns the totals since the watch began. */
  read(): MachineReading;
  close(): void;
}

/**
 * Sampling interval of the event loop delay. Node's measurement includes it, so it is subtracted.
 */
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/**
 * Returns facts about this machine.
 * @param fleetbed version of the program, where known
 */
export function thisMachineFacts(fleetbed: string | undefined): MachineFacts {
  return {
    ...(fleetbed !== undefined && { fleetbed }),
    node: process.version,
    platform: platform(),
    release: release(),
    architecture: arch(),
    cpuModel: cpus()[0]?.model.trim() || 'unknown',
    cpus: availableParallelism(),
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    processes: 1,
  };
}

/** Starts to watch this process. The caller must close the result. */
export function thisMachine(): Machine {
  return new NodeMachine();
}

class NodeMachine implements Machine {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #observer: PerformanceObserver;
  readonly #cpu = process.cpuUsage();
  readonly #loop: EventLoopUtilization = performance.eventLoopUtilization();
  #collections = 0;
  #collectionMs = 0;
  #collectionMaxMs = 0;

  constructor() {
    this.#delay.enable();
    this.#observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) this.#recordCollection(duration);
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  read(): MachineReading {
    const { user, system } = process.cpuUsage(this.#cpu);
    const { active, idle } = performance.eventLoopUtilization(this.#loop);
    return {
      cpuUserMs: user / 1000,
      cpuSystemMs: system / 1000,
      loopBusyMs: active,
      loopIdleMs: idle,
      memoryBytes: process.memoryUsage.rss(),
      collections: this.#collections,
      collectionMs: this.#collectionMs,
      collectionMaxMs: this.#collectionMaxMs,
      eventLoopLagP99Ms: this.#lagMs(this.#delay.percentile(99)),
      eventLoopLagMaxMs: this.#lagMs(this.#delay.max),
    };
  }

  close(): void {
    this.#delay.disable();
    this.#observer.disconnect();
  }

  #recordCollection(durationMs: number): void {
    this.#collections++;
    this.#collectionMs += durationMs;
    this.#collectionMaxMs = Math.max(this.#collectionMaxMs, durationMs);
  }

  #lagMs(nanoseconds: number): number {
    if (this.#delay.count === 0) return 0;
    return Math.max(0, nanoseconds / NANOSECONDS_PER_MS - RESOLUTION_MS);
  }
}
