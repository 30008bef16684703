/**
 * The devices in a result: the outcome of each device, counts by progress, and the reconciliation.
 */
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
    v.pipe(
      text,
      v.description('Device ID on the server, if the device or the user of --accept knows it.'),
    ),
  ),
  serial: text,
  keyType: v.picklist(keyTypes),
  cohort: v.exactOptional(text),
  behaviour: text,
  outcome: v.picklist(deviceStates.map(({ outcome }) => outcome)),
  deploymentId: v.exactOptional(
    v.pipe(text, v.description('Deployment to which the outcome belongs.')),
  ),
  reported: v.pipe(
    v.array(v.picklist(reportableStatuses)),
    v.description('Statuses that the device reported and the server acknowledged, in order.'),
  ),
  artifactName: v.pipe(text, v.description('Artifact installed at the end of the run.')),
  offeredMs: v.exactOptional(v.pipe(unixMs, v.description('Milliseconds since the Unix epoch.'))),
  finishedMs: v.exactOptional(
    v.pipe(
      unixMs,
      v.description(
        'When the server acknowledged the outcome, in milliseconds since the Unix epoch.',
      ),
    ),
  ),
});

export const funnelShape = v.object({
  devices: count,
  offered: v.pipe(count, v.description('Devices that were offered the deployment.')),
  downloading: v.pipe(
    count,
    v.description('Devices that reported this status; likewise for the next two counts.'),
  ),
  installing: count,
  rebooting: count,
  success: v.pipe(
    count,
    v.description('Devices with this outcome; the counts from here on add up to all devices.'),
  ),
  failure: count,
  aborted: count,
  alreadyInstalled: count,
  updating: count,
  idle: v.pipe(count, v.description('Are accepted and have been offered nothing.')),
  pending: v.pipe(count, v.description('Are not accepted by the server.')),
  off: v.pipe(count, v.description('Are without power: by a stage, an incident or a behaviour.')),
  noContact: v.pipe(
    count,
    v.description('Got no response from the server, or have sent no request yet.'),
  ),
});

const deploymentDifference = v.object({
  deploymentId: text,
  deviceId: text,
  deviceIndex: count,
  kind: v.pipe(
    v.picklist(['lost', 'doubled', 'unknown']),
    v.description(
      'lost: the server lacks an acknowledged report; doubled: it has a report too often; unknown: it has a report that no device made.',
    ),
  ),
  fleetStatus: text,
  serverStatus: text,
});

const statisticsDifference = v.object({
  deploymentId: text,
  status: text,
  inList: v.pipe(count, v.description("Devices with that status in the server's own list.")),
  inStatistics: v.pipe(
    count,
    v.description("Number according to the server's statistics, or its audit log."),
  ),
});

export const reconciliationShape = v.object({
  checked: v.pipe(
    yesOrNo,
    v.description("False without a user, or if the server's list could not be read."),
  ),
  ok: yesOrNo,
  reason: v.exactOptional(
    v.pipe(text, v.description('Why nothing, or not everything, was checked.')),
  ),
  sources: v.pipe(
    v.array(v.picklist(['list', 'statistics', 'audit log'])),
    v.description('Records of the server that could be read.'),
  ),
  deploymentsChecked: count,
  withoutArtifact: v.pipe(count, v.description('Devices with which no artifact was compatible.')),
  lostReports: count,
  duplicateReports: count,
  differences: v.array(deploymentDifference),
  statistics: v.array(statisticsDifference),
});

/** Reason why a run without a user has no reconciliation. */
export const noUser = 'no user was given with --accept';

/** A device at the end of the run. */
export type DeviceRow = Immutable<v.InferOutput<typeof deviceRowShape>>;
/** Counts of devices by progress and by outcome. */
export type Funnel = Immutable<v.InferOutput<typeof funnelShape>>;
/** The comparison of the devices' records with the server's records. */
export type Reconciliation = Immutable<v.InferOutput<typeof reconciliationShape>>;
/** A device whose own record differs from the server's. */
export type ReconciliationDifference = Reconciliation['differences'][number];
