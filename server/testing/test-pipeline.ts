/**
 * A pipeline without a server, for test endpoints without an operation; it shows how internal
 * faults are handled.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { type Activity, ActivityFeed } from '../control/sources/activity.ts';
import { createListener } from '../listeners/api-listener.ts';
import { Connections } from '../listeners/connections.ts';
import { StagedClosing } from '../listeners/staged-closing.ts';
import type { Endpoint } from '../pipeline/endpoint.ts';
import type { Log } from '../pipeline/log.ts';
import { openServices } from '../pipeline/open-services.ts';
import { Pipeline } from '../pipeline/pipeline.ts';
import type { Services } from '../pipeline/services.ts';
import { completeConnectionLimits, completeSettings } from '../settings.ts';
import { startOfTest } from './test-server.ts';

/** A line of the log with its level, and its cause if one was given. */
interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly line: string;
  readonly cause?: unknown;
}

export interface TestPipeline {
  readonly pipeline: Pipeline;
  readonly services: Services;
  /** The logged lines in order. */
  readonly lines: readonly LoggedLine[];
  /** The published activities in order. */
  readonly activities: readonly Activity[];
  close(): void;
}

/** Starts a pipeline over an empty store. */
export async function startPipeline(): Promise<TestPipeline> {
  const lines: LoggedLine[] = [];
  const activities: Activity[] = [];
  const services = await servicesWith(recordingLog(lines));
  const activity = new ActivityFeed();
  activity.subscribe(
    (seen) => activities.push(seen),
    (error) => {
      throw error;
    },
  );
  const addresses = { api: 'http://own.example' };
  const pipeline = new Pipeline(services, { addresses, observers: [activity], transforms: [] });
  return { pipeline, services, lines, activities, close: () => services.tenants.close() };
}

function servicesWith(log: Log): Promise<Services> {
  const clock = new ManualClock(startOfTest);
  return openServices({
    settings: completeSettings({}),
    clock,
    random: seededRandom('pipeline'),
    log,
  });
}

function recordingLog(lines: LoggedLine[]): Log {
  return {
    debugOn: true,
    debug: (line) => lines.push({ level: 'debug', line }),
    info: (line) => lines.push({ level: 'info', line }),
    warn: (line) => lines.push({ level: 'warn', line }),
    error: (line, cause) => lines.push({ level: 'error', line, cause }),
  };
}

/** Serves one endpoint at its path, for any method; returns the URL and how to close it. */
export async function serveEndpoint(
  { pipeline, services }: TestPipeline,
  endpoint: Endpoint,
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const { path } = endpoint.operation;
  const run = pipeline.run.bind(pipeline, endpoint);
  const find = (requested: string) => (requested === path ? run : undefined);
  const { headerNames, random, log } = services;
  const { openFiles, turns } = services;
  const closing = new StagedClosing(completeConnectionLimits({}), services.incompleteTransfers);
  const connections = new Connections({ openFiles, surplusMax: 1, closing });
  const nothing = () => undefined;
  const opensSocket = () => false;
  const dependencies = { app: express(), unknown: nothing, refuse: nothing };
  const routes = { find, opensSocket, ...dependencies };
  const listener = createListener({ routes, connections, headerNames, random, log, turns });
  listener.listen({ host: '127.0.0.1', port: 0 });
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(listener, 'close');
    listener.close();
    connections.destroy();
    await closed;
  };
  return { baseUrl: `http://127.0.0.1:${port}`, close };
}
