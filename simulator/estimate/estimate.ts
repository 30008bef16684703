/** Estimates the machines needed to simulate a fleet of any size, from measured costs. */
import {
  measuredRedisCosts,
  type RedisCosts,
  type RedisTraffic,
  redisTrafficOf,
} from './redis-traffic.ts';

/** Average traffic of one device per second, once the fleet has authenticated. */
export interface DeviceTraffic {
  readonly requests: number;
  /** Bytes of HTTP without TLS: request lines, headers and bodies. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Share of the devices with a WebSocket, from 0 to 1. */
  readonly connectedShare: number;
}

/** A machine that simulates devices. */
export interface GeneratorMachine {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Maximum number of sockets per process, from the limit on open files. */
  readonly socketsPerProcess: number;
}

/** Costs of the processes of a simulated fleet, in seconds of CPU time and in bytes. */
export interface ProcessCosts {
  /** CPU seconds per second of an idle process. */
  readonly cpuPerProcess: number;
  readonly cpuPerRequest: number;
  /** CPU seconds per second of an open WebSocket, for its pings. */
  readonly cpuPerSocket: number;
  readonly bytesPerProcess: number;
  readonly bytesPerDevice: number;
  /** Memory of one WebSocket, in addition to the memory of its device. */
  readonly bytesPerSocket: number;
  readonly redis: RedisCosts;
}

/**
 * Costs measured on a two-core VM with Node 20. Part `estimate` of the benchmark shows their
 * accuracy.
 */
const measuredCosts: ProcessCosts = {
  cpuPerProcess: 0.012,
  cpuPerRequest: 120e-6,
  cpuPerSocket: 6e-6,
  bytesPerProcess: 105e6,
  bytesPerDevice: 11_200,
  bytesPerSocket: 10_400,
  redis: measuredRedisCosts,
};

/** Share of a core up to which a process sends on time; the rest is a reserve for bursts. */
const CORE_SHARE = 0.7;
/**
 * Share of the memory that the fleet may use; the rest is for the system and the young generation.
 */
const MEMORY_SHARE = 0.8;
/**
 * Duration of the run for which Redis traffic is estimated; the traffic hardly grows afterwards.
 */
const RUN_SECONDS = 3600;

const noTraffic: RedisTraffic = { commands: 0, bytes: 0 };

/** Resources needed to run a fleet. */
export interface FleetNeeds {
  readonly devices: number;
  readonly requestsPerSecond: number;
  readonly sentBytesPerSecond: number;
  readonly receivedBytesPerSecond: number;
  readonly sockets: number;
  /** Number of cores, as CPU seconds per second. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly machines: number;
  readonly redisCommandsPerSecond: number;
  readonly redisBytesPerSecond: number;
}

/** Returns the resources for this number of devices on machines of this kind. */
export function needsOf(
  devices: number,
  traffic: DeviceTraffic,
  machine: GeneratorMachine,
  costs: ProcessCosts = measuredCosts,
): FleetNeeds {
  const sockets = Math.round(devices * traffic.connectedShare);
  const requestsPerSecond = devices * traffic.requests;
  const work = requestsPerSecond * costs.cpuPerRequest + sockets * costs.cpuPerSocket;
  const processes = Math.max(
    1,
    Math.ceil(work / (CORE_SHARE - costs.cpuPerProcess)),
    Math.ceil(sockets / machine.socketsPerProcess),
  );
  const memoryBytes =
    processes * costs.bytesPerProcess +
    devices * costs.bytesPerDevice +
    sockets * costs.bytesPerSocket;
  const machines = Math.max(
    Math.ceil(processes / machine.cpus),
    Math.ceil(memoryBytes / (machine.memoryBytes * MEMORY_SHARE)),
  );
  const run = { workers: processes, devices, requestsPerSecond, seconds: RUN_SECONDS };
  // A fleet in one process does not use Redis.
  const redis = processes === 1 ? noTraffic : redisTrafficOf(run, costs.redis);
  return {
    devices,
    requestsPerSecond,
    sentBytesPerSecond: devices * traffic.sentBytes,
    receivedBytesPerSecond: devices * traffic.receivedBytes,
    sockets,
    cores: work + processes * costs.cpuPerProcess,
    memoryBytes,
    processes,
    machines,
    redisCommandsPerSecond: redis.commands,
    redisBytesPerSecond: redis.bytes,
  };
}
