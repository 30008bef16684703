/** Bringing a tenant back: to its start state, to a world file, named snapshots, and forks. */
import type { Express, Request, Response } from 'express';
import * as v from 'valibot';
import { nearestOf } from '../../../fixtures/nearest.ts';
import { maskText } from '../../http/masking.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { deviceNamed } from '../journal/known-devices.ts';
import { type NamedSnapshot, SNAPSHOTS_MAX, type TenantStates } from '../world/tenant-states.ts';
import { WorldFault } from '../world/timeline.ts';
import { worldJsonSchema } from '../world/world-shape.ts';
import { readWorld, WorldTextFault } from '../world/world-text.ts';
import { type Handler, mount, readBody, refuse, tenantNamed } from './answers.ts';
import { answerAdded, newTenantShape } from './tenants.ts';

const namePattern = /^[\w.-]{1,100}$/;

const resetShape = v.strictObject(
  { device: v.optional(v.string('must be a string')) },
  'must be an object, with or without "device"',
);

/** Mounts the paths of world files, resets, snapshots and forks. */
export function mountTenantStates(app: Express, tenants: Tenants, states: TenantStates): void {
  /** A handler of the tenant that the request names. */
  const within =
    (act: (tenant: Tenant, request: Request, response: Response) => unknown): Handler =>
    (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      return tenant && act(tenant, request, response);
    };
  mount(app, '/world/schema', { get: (_, response) => response.json(worldJsonSchema()) });
  mount(app, '/world', {
    post: within((tenant, request, response) => load(states, tenant, { request, response })),
  });
  mount(app, '/reset', {
    post: within((tenant, request, response) => reset(states, tenant, { request, response })),
  });
  mount(app, '/snapshots', {
    get: within((tenant, _, response) => response.json(states.snapshots(tenant).map(view))),
  });
  mount(app, '/snapshots/:name', {
    put: within((tenant, request, response) => take(states, tenant, { request, response })),
    delete: within((tenant, request, response) => {
      if (states.discard(tenant, nameIn(request))) response.status(204).end();
      else refuse(response, 404, unknownSnapshot(states, tenant, nameIn(request)));
    }),
  });
  mount(app, '/snapshots/:name/restore', {
    post: within((tenant, request, response) => {
      if (states.restore(tenant, nameIn(request))) response.status(204).end();
      else refuse(response, 404, unknownSnapshot(states, tenant, nameIn(request)));
    }),
  });
  mount(app, '/fork', {
    post: within(async (tenant, request, response) => {
      const given = readBody(newTenantShape, request, response);
      if (!given) return;
      const admin = { email: given.adminEmail, password: given.adminPassword };
      answerAdded(response, await states.fork(tenant, { name: given.name, admin }));
    }),
  });
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

async function load(states: TenantStates, tenant: Tenant, { request, response }: Exchange) {
  const text = typeof request.body === 'string' ? request.body : '';
  try {
    response.json(await states.load(tenant, readWorld(text, 'body')));
  } catch (fault) {
    if (fault instanceof WorldTextFault) refuse(response, 400, fault.message);
    else if (fault instanceof WorldFault) refuse(response, 422, `body: ${fault.message}`);
    else throw fault;
  }
}

async function reset(states: TenantStates, tenant: Tenant, { request, response }: Exchange) {
  const given = request.body === undefined ? {} : readBody(resetShape, request, response);
  if (!given) return;
  if (given.device === undefined) {
    await states.reset(tenant);
    response.status(204).end();
    return;
  }
  const outcome = states.resetDevice(tenant, given.device);
  if (outcome === undefined) refuse(response, 409, 'there is no start state to restore');
  else if (outcome === 'unknown') refuse(response, 404, unknownDevice(tenant, given.device));
  else response.json({ device: outcome });
}

function unknownDevice({ store }: Tenant, wanted: string): string {
  const named = deviceNamed(store, wanted);
  const nearest = 'nearest' in named ? named.nearest.join(', ') : '';
  const told = nearest === '' ? 'there are no devices' : `nearest: ${nearest}`;
  return maskText(`body: device: there is no device with this id or identity value; ${told}`);
}

function unknownSnapshot(states: TenantStates, tenant: Tenant, wanted: string): string {
  const nearest = nearestOf(
    wanted,
    states.snapshots(tenant).map(({ name }) => name),
  );
  const told = nearest.length === 0 ? 'there are none' : `nearest: ${nearest.join(', ')}`;
  return `there is no snapshot with this name; ${told}`;
}

function take(states: TenantStates, tenant: Tenant, { request, response }: Exchange): void {
  const name = nameIn(request);
  if (!namePattern.test(name)) {
    refuse(
      response,
      400,
      'path: name: must be 1 to 100 letters, digits, dots, dashes and underscores',
    );
  } else if (!states.take(tenant, name)) {
    refuse(
      response,
      422,
      `the tenant already has ${SNAPSHOTS_MAX} snapshots, the maximum; delete one first`,
    );
  } else response.status(204).end();
}

function nameIn({ params }: Request): string {
  return String(params.name);
}

function view({ name, takenMs }: NamedSnapshot) {
  return { name, takenAt: new Date(takenMs).toISOString() };
}
