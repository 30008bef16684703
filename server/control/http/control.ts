/**
 * Starts the control listener, which serves the console page and the control API. The control API
 * is not part of the contract. The listener has its own port and requires the control token for
 * everything except the page itself and readiness.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { knownNames } from '../../../fixtures/base/nearest.ts';
import { printable } from '../../../fixtures/base/printable.ts';
import type { ClientFeed } from '../../client-feed/client-feed.ts';
import { type ConsoleAsset, listAssets, readAsset, readPlainAsset } from '../../console/assets.ts';
import { isSameSecret } from '../../crypto/same-secret.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import { openFilesLimit, Semaphore, shareOpenFiles } from '../../http/open-files.ts';
import { connectionOptions, enforceConnectionLimits } from '../../listeners/connection-limits.ts';
import { Connections } from '../../listeners/connections.ts';
import { keepOrder } from '../../listeners/pipelining.ts';
import { StagedClosing } from '../../listeners/staged-closing.ts';
import { answerUnparsableRequest, bareResponse } from '../../listeners/unparsable.ts';
import type { Log } from '../../pipeline/log.ts';
import type { StorageErrors } from '../../pipeline/storage-errors.ts';
import { type Turns, turnKeyOf } from '../../pipeline/turns.ts';
import { type ConnectionLimits, completeConnectionLimits } from '../../settings.ts';
import type { Outbox } from '../../tenants/outbox.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import type { Variation } from '../../variation/variation.ts';
import type { Watchdog } from '../../watchdog.ts';
import type { TenantStates } from '../../world/tenant-states.ts';
import type { Runs } from '../sources/runs.ts';
import type { ControlSource } from '../sources/source.ts';
import { awaitHandlers } from './await.ts';
import { boundBodies, jsonBodies, textBodies } from './bodies.ts';
import { clientHandlers } from './clients.ts';
import { doctorHandlers } from './doctor.ts';
import { errorHandler } from './error-handler.ts';
import { EventStreams } from './event-stream.ts';
import { type ExplainSettings, explanationHandlers } from './explanations.ts';
import { fleetHandlers } from './fleet.ts';
import { journalHandlers } from './journal.ts';
import {
  type ConsoleAuthorization,
  createConsoleAuthorization,
  type ManagementServices,
  managementHandlers,
  managementPrefix,
  passRequests,
  passSockets,
} from './management.ts';
import { controlPathsOf, type Handlers, mountOperations, wrongMethod } from './mount.ts';
import { checkOwnAddress, requireOwnAddress } from './own-address.ts';
import { referenceHandlers } from './reference.ts';
import { refuseForNow, throwRefusal } from './refusals.ts';
import { runHandlers } from './runs.ts';
import { tenantControlHandlers } from './tenant-controls.ts';
import { stateHandlers } from './tenant-states.ts';
import { tenantHandlers } from './tenants.ts';

export interface ControlListenerOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The secret that callers must send as a Bearer token. */
  readonly controlToken: string;
  readonly source: ControlSource;
  readonly tenants: Tenants;
  readonly states: TenantStates;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly watchdog: Watchdog;
  readonly storageErrors: StorageErrors;
  readonly management: ManagementServices;
  readonly runs: Runs;
  /** Absent if no clients are judged. */
  readonly clients: ClientFeed | undefined;
  readonly variation: Variation;
  readonly clock: Clock;
  /** Counts the discarded bytes of refused requests. */
  readonly incompleteTransfers: ByteBudget;
  /** The scheduler that gives requests their turns, shared by the whole process. */
  readonly turns: Turns;
  /** Facts for explanations that are not in a journal record. */
  readonly explainFacts: ExplainSettings;
  /** Time-outs for slow clients that differ from the defaults. */
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined;
}

export interface RunningControl {
  /** The base address, without a slash at the end. */
  readonly url: string;
  /** Closes every stream and connection. */
  close(): Promise<void>;
}

/** Headers of the page: it may load only its own files, and no other page may frame it. */
const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/**
 * Starts the listener. Resolves once it accepts connections. Rejects with Node's own error (`code`
 * EADDRINUSE, `port`) if the port is busy.
 */
export async function startControl(options: ControlListenerOptions): Promise<RunningControl> {
  const streams = new EventStreams(options);
  const connectionLimits = completeConnectionLimits(options.connectionLimits);
  const closing = new StagedClosing(connectionLimits, options.incompleteTransfers);
  const connections = ownConnections(connectionLimits, closing);
  const { app, admission } = controlApp(options, {
    streams,
    connections,
    assets: await listAssets(),
  });
  const server = createServer(connectionOptions(connectionLimits), (request, response) =>
    keepOrder(request, response, () =>
      options.turns.start(turnKeyOf(request), () => {
        // While the server stops, it closes its stores before it aborts the requests on its
        // connections.
        if (!request.socket.destroyed) app(request, response);
      }),
    ),
  );
  passSockets(server, {
    ...admission,
    tenants: options.tenants,
    internalApi: options.management.internalApi,
    requireOwn: (request) => checkOwnAddress(request, options.host),
  });
  answerUnparsableRequest(server, { closing, turns: options.turns }, ({ status, parseFailure }) =>
    bareResponse(status, { error: parseFailure.error }, {}),
  );
  enforceConnectionLimits(server, connectionLimits);
  connections.watch(server, () => '');
  const stopOverloadWatch = options.turns.onOverload(() => connections.stopReading());
  await startListening(server, options);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        streams.close();
        options.runs.close();
        stopOverloadWatch();
        connections.destroy();
      }),
  };
}

function startListening(server: Server, { host, port }: ControlListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Number of characters of an unknown path that an error shows. */
const PATH_MAX_CHARACTERS = 200;

const tooManyConnections =
  'the control listener has reached its limit of open connections; close some first';

/** Creates the listener's own share of connections, independent of the API's. */
function ownConnections({ connectionsMax }: ConnectionLimits, closing: StagedClosing): Connections {
  const { control, refused } = shareOpenFiles(openFilesLimit(), connectionsMax);
  return new Connections({ openFiles: new Semaphore(control), surplusMax: refused, closing });
}

interface ControlParts {
  readonly streams: EventStreams;
  readonly connections: Connections;
  readonly assets: readonly ConsoleAsset[];
}

async function sendAsset(asset: ConsoleAsset, request: Request, response: Response) {
  const { isImmutable, isCompressed, mediaType } = asset;
  if (isImmutable) response.set('Cache-Control', 'max-age=31536000, immutable');
  response.type(mediaType);
  if (isCompressed) response.vary('Accept-Encoding');
  if (!isCompressed || !request.acceptsEncodings('gzip')) {
    return response.send(await readPlainAsset(asset));
  }
  return response.set('Content-Encoding', 'gzip').send(await readAsset(asset));
}

function controlApp(
  options: ControlListenerOptions,
  { streams, connections, assets }: ControlParts,
) {
  const { controlToken, log, storageErrors, tenants, management } = options;
  const app = express().disable('x-powered-by').disable('etag');
  app.use((_, response, next) => {
    response.set(pageHeaders);
    next();
  });
  app.use(measureHandlers(options.watchdog));
  app.use((request, response, next) => {
    if (connections.refuses(request.socket)) refuseForNow(response, tooManyConnections);
    next();
  });
  app.use(requireOwnAddress(options.host));
  for (const asset of assets) {
    const route = app.route(asset.path);
    route.get(async (request, response) => void (await sendAsset(asset, request, response)));
    route.all(wrongMethod('GET'));
  }
  const admission = createConsoleAuthorization(management);
  const handlers = handlersOf(options, admission, streams);
  const isManagementPath = (path: string) => path.startsWith(managementPrefix);
  mountOperations(app, { tenants, handlers }, (_, { isOpen }) => isOpen === true);
  app.use(requireToken(controlToken));
  mountOperations(app, { tenants, handlers }, isManagementPath);
  app.use(managementPrefix, passRequests(admission, tenants, management.internalApi));
  app.use(boundBodies());
  app.use([...controlPathsOf((_, { body }) => typeof body === 'string')], textBodies());
  app.use([...controlPathsOf((_, { isBodyLong }) => isBodyLong === true)], jsonBodies(true));
  app.use(jsonBodies());
  // Reading the body is asynchronous and ended the first measurement, so the handlers are measured
  // again.
  app.use(measureHandlers(options.watchdog));
  mountOperations(
    app,
    { tenants, handlers },
    (path, { isOpen }) => isOpen !== true && !isManagementPath(path),
  );
  app.use(({ path }) => {
    const hint = knownNames(
      'path',
      path,
      controlPathsOf(() => true),
    );
    throwRefusal(404, `the path ${printable(path, PATH_MAX_CHARACTERS)} does not exist; ${hint}`);
  });
  app.use(errorHandler(log, (error) => storageErrors.refusalOf(error)));
  return { app, admission };
}

function handlersOf(
  options: ControlListenerOptions,
  admission: ConsoleAuthorization,
  streams: EventStreams,
): Handlers {
  const { tenants, states, outbox, runs, clock, explainFacts } = options;
  return {
    'GET /ready': () => ({ ready: true }),
    ...referenceHandlers(explainFacts),
    ...managementHandlers(admission),
    ...fleetHandlers(options, streams),
    ...clientHandlers(options.clients, clock),
    ...tenantHandlers(tenants, states),
    ...tenantControlHandlers(outbox),
    ...journalHandlers(streams),
    ...awaitHandlers(clock),
    ...runHandlers(runs, streams),
    ...explanationHandlers(tenants, explainFacts),
    ...doctorHandlers(explainFacts.headerNames),
    ...stateHandlers(states),
  };
}

/** Measures the synchronous work of the handlers that follow. */
function measureHandlers(watchdog: Watchdog): RequestHandler {
  return ({ method, path }, _, next) => {
    const startedMs = watchdog.begin();
    next();
    watchdog.end(startedMs, { operation: `${method} ${path} of the control listener` });
  };
}

/**
 * Requires the control token. The comparison takes the same time for every token, so its duration
 * reveals nothing.
 */
function requireToken(controlToken: string): RequestHandler {
  return (request, response, next) => {
    const [, sentToken] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (sentToken === undefined || !isSameSecret(sentToken, controlToken)) {
      response.set('WWW-Authenticate', 'Bearer realm="fleetbed control"');
      throwRefusal(
        401,
        'the control token is missing or wrong; use the one that fleetbed serve prints',
      );
    }
    next();
  };
}
