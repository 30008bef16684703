/** Why a device got no update, or would get none now: the rules of the server, evaluated again. */

import { operationsById } from '../../../fixtures/contract/operation-ids.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../../http/exchange-record.ts';
import { maskText } from '../../http/masking.ts';
import { decideInstruction } from '../../rules/instruction.ts';
import type { NextRequest } from '../../rules/next-deployment.ts';
import { type NoUpdate, noDeployment } from '../../rules/no-update.ts';
import { choosePart, type KeptBack, keptBack } from '../../rules/part-choice.ts';
import { candidate } from '../../store/artifacts.ts';
import type { DeviceParts } from '../../store/deployment-devices.ts';
import type { PartWithFacts } from '../../store/part-rows.ts';
import type { ControlledTenant } from '../controlled-tenant.ts';
import { jsonObject } from '../journal/facts.ts';
import { type Judged, labelOf, type Passed, passedBy, sentenceOf } from './no-update-sentences.ts';

/** An evaluated rule. */
interface Step {
  readonly rule: string;
  readonly passed: boolean;
  readonly sentence: string;
}

/** Why a device gets no update, or that it would get one. */
export interface NoUpdateExplanation {
  /** The request ID of the explained poll; absent when it explains the present. */
  readonly requestId?: string;
  /** Name of the tenant that the device belongs to. */
  readonly world: string;
  /** ISO 8601, in the time of the tenant. */
  readonly at: string;
  readonly device: { readonly id: string; readonly identity?: string };
  readonly outcome: 'no update' | 'update';
  /** The rules in the order of evaluation; without an update the last one failed. */
  readonly steps: readonly Step[];
  /** A sentence for each of the device's newest deployments, newest first. */
  readonly deployments: readonly string[];
}

type PolledTenant = Pick<ControlledTenant, 'name' | 'store' | 'journal' | 'clock'>;

const DEPLOYMENTS_MAX = 100;
const TOLD_MAX = 10;

/** Why a poll was answered without an update; undefined for any other response. */
export function explainPoll(
  record: ExchangeRecord,
  tenant: PolledTenant,
): NoUpdateExplanation | undefined {
  const { noUpdate, deviceId, atMs, requestId } = record;
  if (!noUpdate || deviceId === undefined) return undefined;
  const newest = tenant.store.parts.newest(deviceId, DEPLOYMENTS_MAX);
  const request = requestOf(record);
  const device = { tenant, id: deviceId, nowMs: atMs, newest };
  const steps = [
    yes('accepted', 'the device sent a valid token'),
    yes('polling', pollingText(record, request)),
    ...stepsTo(noUpdate, { ...device, request }),
  ];
  return { requestId, ...told(device, steps) };
}

/** What the server would answer now to the device's last poll. */
export function explainDevice(deviceId: string, tenant: PolledTenant): NoUpdateExplanation {
  const newest = tenant.store.parts.newest(deviceId, DEPLOYMENTS_MAX);
  const device = { tenant, id: deviceId, nowMs: tenant.clock.now(), newest };
  return told(device, stepsNow(device));
}

/** A device at a moment. */
interface Device {
  readonly tenant: PolledTenant;
  readonly id: string;
  readonly nowMs: number;
  readonly newest: DeviceParts;
}

function stepsNow(device: Device): Step[] {
  const { tenant, id } = device;
  const status = tenant.store.devices.find(id)?.status;
  if (status !== 'accepted') {
    return [no('accepted', `the device is ${status ?? 'unknown'}, not accepted by a user`)];
  }
  const accepted = yes('accepted', 'a user has accepted the device');
  const last = lastPoll(tenant, id);
  if (!last) {
    return [accepted, no('polling', 'the journal holds no update request from the device')];
  }
  if (last.status >= 400) return [accepted, no('polling', refusedText(last))];
  const request = requestOf(last);
  const before = [accepted, yes('polling', pollingText(last, request))];
  const asking = { ...device, request };
  const answered = answerNow(asking);
  if ('noUpdate' in answered) return [...before, ...stepsTo(answered.noUpdate, asking)];
  const steps = [...before, ...passedBy(judgedOf(answered.part, asking), undefined).map(asStep)];
  if (answered.decision !== 'conflict') return steps;
  const changed = 'the device now reports other data than when it was offered the update';
  return [...steps, no('request', changed)];
}

/** As the poll decides; without a known last request only the choice of the deployment. */
function answerNow({ tenant, id, nowMs, request }: Asking) {
  const open = tenant.store.parts.open(id);
  if (request) {
    const candidates = (part: PartWithFacts) => candidatesOf(part, tenant);
    return decideInstruction({ request, ...open, nowMs, candidatesOf: candidates });
  }
  const choice = choosePart(open.parts, { nowMs, lastFinishedSeq: open.lastFinishedSeq });
  if (choice.decision === 'nothing') return { noUpdate: noDeployment };
  const { part, decision } = choice;
  if (decision !== 'wait') return { decision, part };
  return { noUpdate: { rule: choice.rule, deploymentId: part.deployment.id } };
}

type Asking = Device & { readonly request: NextRequest | undefined };

/** The rules of deployments up to the one that failed. */
function stepsTo({ rule, deploymentId }: NoUpdate, asking: Asking): Step[] {
  const { parts } = asking.newest;
  const part = parts.find(({ deployment }) => deployment.id === deploymentId);
  if (rule === 'deployment') return overSteps(asking);
  if (!part) return [no(rule, `deployment ${deploymentId} no longer exists`)];
  const judged = judgedOf(part, asking);
  return [...passedBy(judged, rule).map(asStep), no(rule, sentenceOf(rule, judged))];
}

/** Without an open deployment: the newest one at that time, and why it is over for the device. */
function overSteps(asking: Asking): Step[] {
  const { nowMs, newest } = asking;
  const moment = { nowMs, lastFinishedSeq: newest.lastFinishedSeq };
  const last = newest.parts.findLast(
    (part) =>
      part.deployment.createdMs <= nowMs &&
      (part.finishedMs ?? 0) <= nowMs &&
      keptBack(part, moment) !== undefined,
  );
  const rule = last && keptBack(last, moment);
  if (!rule) return [no('deployment', 'no deployment includes the device')];
  const judged = judgedOf(last, asking);
  return [
    yes('deployment', `${labelOf(judged.part)} includes the device`),
    no(rule, sentenceOf(rule, judged)),
  ];
}

function judgedOf(part: PartWithFacts, { tenant, nowMs, request }: Asking): Judged {
  return { part, nowMs, request, candidates: candidatesOf(part, tenant) };
}

function candidatesOf({ deployment }: PartWithFacts, { store }: PolledTenant) {
  if (deployment.configuration) return [];
  return store.artifacts.findByName(deployment.artifactName).map(candidate);
}

function told(device: Device, steps: readonly Step[]): Omit<NoUpdateExplanation, 'requestId'> {
  const { tenant, id, nowMs, newest } = device;
  const identity = tenant.store.devices.find(id)?.identity;
  const moment = { nowMs, lastFinishedSeq: newest.lastFinishedSeq };
  const judged = newest.parts.slice(-TOLD_MAX).toReversed();
  return {
    world: tenant.name,
    at: new Date(nowMs).toISOString(),
    device: { id, ...(identity !== undefined && { identity: maskText(identity) }) },
    outcome: steps.at(-1)?.passed ? 'update' : 'no update',
    steps,
    deployments: judged.map((part) => {
      const asking = { ...device, request: undefined };
      return standingText(judgedOf(part, asking), keptBack(part, moment));
    }),
  };
}

function standingText(judged: Judged, rule: KeptBack | undefined): string {
  const open = judged.part.offeredMs === undefined ? 'open' : judged.part.status;
  return rule ? sentenceOf(rule, judged) : `${labelOf(judged.part)}: ${open}`;
}

function lastPoll({ journal }: PolledTenant, deviceId: string): ExchangeRecord | undefined {
  for (const entry of journal.newestFirst()) {
    if (entry.kind !== 'exchange' || entry.deviceId !== deviceId) continue;
    const operation = operationsById.get(entry.operation ?? '');
    if (operation?.deploymentRole === 'hands-out') return entry;
  }
  return undefined;
}

/** The data of a poll as its rule received it; undefined when its body was not kept whole. */
function requestOf({ operation, url, body, bodyBytes }: ExchangeRecord) {
  if (operation === operations['get-next-deployment'].id) {
    const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
    const names = Object.keys(operations['get-next-deployment'].query);
    return withProvides(names.map((name) => [name, query.get(name) ?? '']));
  }
  if (!body || body.length !== bodyBytes) return undefined;
  const given = jsonObject(body);
  const isV2 = operation === operations['post-next-deployment-v2'].id;
  const provides = isV2 ? given.device_provides : given;
  if (typeof provides !== 'object' || provides === null) return undefined;
  const pairs = Object.entries(provides).map(([name, value]) => [name, String(value)] as const);
  return withProvides(pairs, isV2 && given.update_control_map === true);
}

function withProvides(
  pairs: readonly (readonly [string, string])[],
  takesControlMap = false,
): NextRequest {
  const provides = Object.fromEntries(pairs);
  const { device_type: deviceType = '', artifact_name: artifactName = '' } = provides;
  return { deviceType, artifactName, provides, takesControlMap };
}

function refusedText({ atMs, status, refusal, requestId }: ExchangeRecord): string {
  const at = new Date(atMs).toISOString();
  const why = refusal ? `: ${maskText(refusal.error)}` : '';
  return `the device asked at ${at} and was answered with ${status}${why}; for details: fleetbed explain ${maskText(requestId)}`;
}

function pollingText({ atMs }: ExchangeRecord, request: NextRequest | undefined): string {
  const at = new Date(atMs).toISOString();
  if (!request) return `the device asked at ${at}`;
  const pairs = Object.entries(request.provides).map(([name, value]) => `${name}=${value}`);
  return `the device asked at ${at} with ${maskText(pairs.join(', '))}`;
}

function asStep({ rule, sentence }: Passed): Step {
  return yes(rule, sentence);
}

function yes(rule: string, sentence: string): Step {
  return { rule, passed: true, sentence };
}

function no(rule: string, sentence: string): Step {
  return { rule, passed: false, sentence };
}
