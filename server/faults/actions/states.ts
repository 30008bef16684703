/**
 * Actions on the state of the server: tokens that expire, and deployments that are aborted midway.
 */
import * as v from 'valibot';
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import { reportableStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { unexpectedFault } from '../../../fixtures/control/control-listener.ts';
import { refuse } from '../../http/refusal.ts';
import { DeliberateFailure } from '../../pipeline/failure.ts';
import { isFinal } from '../../rules/device-deployment.ts';
import { chooseDeviceDeployment } from '../../rules/device-deployment-choice.ts';
import type { StoredDeviceDeployment } from '../../store/device-deployment-rows.ts';
import type { FaultCall } from '../call.ts';
import { type Action, type ActionContext, defineAction } from './action.ts';
import { refuseRequest } from './responses.ts';

const expireToken = defineAction({
  kind: 'expire-token',
  does: "expires the caller's token now; a new one can be requested",
  entries: {},
  injectionPoints: ['before'],
  applies: hasToken,
  execute: async (_given, context) => {
    endTokens(context);
    await refuseRequest(context, refuse.unauthorized('the token has expired; get a new one'));
    return 'response-sent';
  },
});

const revokeToken = defineAction({
  kind: 'revoke-token',
  does: "revokes the caller's tokens now; new ones can be requested",
  entries: {},
  injectionPoints: ['before'],
  applies: hasToken,
  execute: async (_given, context) => {
    endTokens(context);
    return 'continue';
  },
});

const refuseToken = defineAction({
  kind: 'refuse-token',
  does: 'answers 401 to this call; the token stays valid',
  entries: {},
  injectionPoints: ['before', 'after'],
  applies: hasToken,
  execute: async (_given, context) => {
    await refuseRequest(context, refuse.unauthorized('the token is refused by a planned fault'));
    return 'response-sent';
  },
});

function hasToken(_given: unknown, { caller }: FaultCall): boolean {
  return caller.device !== undefined || caller.user !== undefined;
}

function endTokens({ call, tenant }: ActionContext): void {
  const { device, user } = call.caller;
  const { devices, userTokens } = tenant.store;
  const authSet = device && devices.findAuthSetById(device.authSetId);
  if (authSet) devices.revokeTokens(authSet, tenant.clock.now());
  if (user) userTokens.end(user.tokenId);
}

const reportShape = v.object({ status: v.string() });
const states = ['pending', ...reportableStatuses] as const;

const abortDeployment = defineAction({
  kind: 'abort-deployment',
  does: 'aborts the deployment when the device reports this state (pending: when it polls), before or after the report is processed',
  entries: { at: v.picklist(states, `must be one of ${states.join(', ')}`) },
  injectionPoints: ['before', 'after'],
  applies: ({ at }, call) => {
    const deviceDeployment = deviceDeploymentOf(call);
    const report = v.safeParse(reportShape, call.json);
    const isReached =
      at === 'pending'
        ? isPollOperation(call.operation) && deviceDeployment?.offeredMs === undefined
        : report.success && report.output.status === at;
    return isReached && deviceDeployment !== undefined && !isFinal(deviceDeployment);
  },
  execute: async (_given, { call, tenant }) => {
    const deviceDeployment = deviceDeploymentOf(call);
    if (deviceDeployment)
      tenant.store.deviceDeployments.abortAll(deviceDeployment.deployment, tenant.clock.now());
    return 'continue';
  },
});

/** Returns the caller's device deployment that the request concerns. */
function deviceDeploymentOf({
  operation,
  exchange,
  caller,
  store,
}: FaultCall): StoredDeviceDeployment | undefined {
  if (!caller.device) return undefined;
  const { id: deviceId } = caller.device;
  if (operation.id === 'put-deployment-status') {
    return store.deviceDeployments.findOffered(exchange.parameters.id ?? '', deviceId);
  }
  if (!isPollOperation(operation)) return undefined;
  const nowMs = exchange.clock?.now() ?? 0;
  const { deviceDeployments, lastFinishedSeq } = store.deviceDeployments.listOpen(deviceId);
  const choice = chooseDeviceDeployment(deviceDeployments, { nowMs, lastFinishedSeq });
  return choice.decision === 'nothing' ? undefined : choice.deviceDeployment;
}

const failInside = defineAction({
  kind: unexpectedFault,
  does: 'makes the server fail internally, so it answers 500 as for a real error',
  entries: {},
  injectionPoints: ['before'],
  execute: () => Promise.reject(new DeliberateFailure('a planned fault of the testbed')),
});

/** All actions of this file, in the order of the documentation. */
export const stateActions: readonly Action[] = [
  expireToken,
  revokeToken,
  refuseToken,
  abortDeployment,
  failInside,
];
