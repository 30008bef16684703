/** Cases: the request ID of the caller in the refusals of every operation. Spec: Error */
import { parsedJson } from '../../../fixtures/base/json.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { deviceCalls, type OperationCalls, tokenCalls } from '../../context/every-call.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { ApiCaller, bearer } from '../../target/call.ts';
import type { Headers } from '../../target/exchange.ts';
import { expectEqualIfThere } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';

const noBodyIsShown: readonly OperationId[] = ['patch-attributes', 'put-attributes'];

/** Calls that are refused if the caller has no token. */
const refusedWithoutToken: OperationCalls = {
  ...Object.fromEntries(
    Object.entries(tokenCalls).filter(([id]) => !noBodyIsShown.some((each) => each === id)),
  ),
  'post-auth-request': (caller) => caller.call('post-auth-request', { raw: '{' }),
  'download-configuration': (caller) => {
    const id = '11111111-2222-4333-8444-555555555555';
    const path = { deployment_id: id, device_type: 'any', device_id: id };
    return caller.call('download-configuration', { path });
  },
};

/** Calls that are refused as malformed. Their 401 is not used, since it may have no body. */
const refusedToDevices: OperationCalls = {
  'patch-attributes': (caller) => caller.call('patch-attributes', { raw: '{' }),
  'put-attributes': (caller) => caller.call('put-attributes', { raw: '{' }),
};

/** Asserts that each refusal with a request_id has the one that was sent. */
async function expectOwnIds(context: TestContext, calls: OperationCalls, headers: Headers = {}) {
  for (const [id, call] of Object.entries(context.offered(calls))) {
    // Each class of characters that a server may normalize.
    const requestId = `${context.newName()}-No.7_A`;
    const name = context.names.requestId.toLowerCase();
    const { status, text } = await call(
      new ApiCaller(context.client, { ...headers, [name]: requestId }),
    );
    if (status < 400) continue;
    // Another requirement covers an Error body that is not JSON.
    const { request_id: returnedId } = membersOf(parsedJson(text));
    expectEqualIfThere(`request_id of ${id}`, returnedId, requestId);
  }
}

export const requestIdCases = [
  ...defineScenario<TestContext>({
    area: 'errors',
    name: 'A caller that numbers its requests',
    start: 'a caller without any token',
    effect: 'read',
    arrange: (context) => context,
    cases: [
      {
        id: 'every-operation-names-the-request',
        title: 'The 401 of every operation has the request ID that the caller sent.',
        requirements: ['errors.request-id-of-the-caller'],
        run: (context) => expectOwnIds(context, refusedWithoutToken),
      },
    ],
  }),
  ...defineScenario({
    area: 'errors',
    name: 'A device that numbers its requests',
    start: 'an accepted device with a token',
    effect: 'write',
    needs: ['user'],
    arrange: (context) => acceptedDevice(context),
    cases: [
      {
        id: 'malformed-attributes-name-the-request',
        title: 'The 400 of malformed attributes has the request ID that the device sent.',
        requirements: ['errors.request-id-of-the-caller'],
        run: ({ token }, context) => expectOwnIds(context, refusedToDevices, bearer(token)),
      },
      {
        id: 'what-is-missing-names-the-request',
        title: 'The 404 for an artifact or deployment that is not there has the ID that was sent.',
        requirements: ['errors.request-id-of-the-caller'],
        run: ({ token }, context) => expectOwnIds(context, deviceCalls, bearer(token)),
      },
    ],
  }),
];
