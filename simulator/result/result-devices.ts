/** The devices in a result: the outcome of each, the counts by progress, and the reconciliation. */
import * as v from 'valibot';
import { keyTypes, reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import { deviceStates } from './device-states.ts';
import type { Immutable } from './immutable.ts';

const text = v.string();
const yesOrNo = v.boolean();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const unixMs = v.pipe(v.number(), v.finite());

export const deviceRowShape = v.object({
  index: count,
  deviceId: v.exactOptional(
    v.pipe(text, v.description("The server's id, where the device or the operator knows it.")),
  ),
  serial: text,
  keyType: v.picklist(keyTypes),
  cohort: v.exactOptional(text),
  behaviour: text,
  outcome: v.picklist(deviceStates.map(({ outcome }) => outcome)),
  deploymentId: v.exactOptional(
    v.pipe(text, v.description('The deployment that the outcome is about.')),
  ),
  reported: v.pipe(
    v.array(v.picklist(reportableStatuses)),
    v.description('What the device has reported and the server has acknowledged, in order.'),
  ),
  artifactName: v.pipe(text, v.description('What is installed at the end.')),
  offeredMs: v.exactOptional(v.pipe(unixMs, v.description('Milliseconds since the Unix epoch.'))),
  endedMs: v.exactOptional(
    v.pipe(unixMs, v.description('When the outcome was acknowledged; since the Unix epoch.')),
  ),
});

export const funnelShape = v.object({
  devices: count,
  offered: v.pipe(count, v.description('Were ever offered the deployment.')),
  downloading: v.pipe(count, v.description('Have reported it; likewise the next two.')),
  installing: count,
  rebooting: count,
  success: v.pipe(count, v.description('From here on the counts add up to devices.')),
  failure: count,
  aborted: count,
  alreadyInstalled: count,
  updating: count,
  idle: v.pipe(count, v.description('Are accepted and have been offered nothing.')),
  pending: v.pipe(count, v.description('Are not accepted by the server.')),
  off: v.pipe(count, v.description('Are without power: by a stage, an incident or a behaviour.')),
  noContact: v.pipe(count, v.description('Got no answer from the server, or have not asked yet.')),
});

const deploymentDifference = v.object({
  deploymentId: text,
  deviceId: text,
  deviceIndex: count,
  kind: v.pipe(
    v.picklist(['lost', 'doubled', 'unknown']),
    v.description(
      'The server lacks an acknowledged report; has one too often; has one never made.',
    ),
  ),
  ours: text,
  servers: text,
});

const statisticsDifference = v.object({
  deploymentId: text,
  status: text,
  listed: v.pipe(count, v.description("Devices with that status in the server's own list.")),
  stated: v.pipe(count, v.description("What the server's statistics, or its audit log, say.")),
});

export const reconciliationShape = v.object({
  checked: v.pipe(
    yesOrNo,
    v.description("False without a login, or when the server's list could not be read."),
  ),
  ok: yesOrNo,
  because: v.exactOptional(v.pipe(text, v.description('Why it was not, or not wholly, checked.'))),
  sources: v.pipe(
    v.array(v.picklist(['list', 'statistics', 'audit log'])),
    v.description("The server's records that could be read."),
  ),
  deploymentsChecked: count,
  withoutArtifact: v.pipe(count, v.description('Devices for which no artifact fitted.')),
  lostReports: count,
  doubledReports: count,
  differences: v.array(deploymentDifference),
  statistics: v.array(statisticsDifference),
});

/** Why nothing was reconciled in a run without a user of the management API. */
export const noUser = 'no user was given with --accept';

/** One device at the end of the run. */
export type DeviceRow = Immutable<v.InferOutput<typeof deviceRowShape>>;
/** Progress of the devices: counts that add up to the fleet. */
export type Funnel = Immutable<v.InferOutput<typeof funnelShape>>;
/** Comparison of the devices' and the server's records. */
export type Reconciliation = Immutable<v.InferOutput<typeof reconciliationShape>>;
/** One device for which the two records differ. */
export type ReconciliationDifference = Reconciliation['differences'][number];
