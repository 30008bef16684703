/**
 * Cases: requests in valid variants of HTTP that client libraries do not send, written byte by
 * byte. A server that declines a variant in a way that HTTP allows does not fail. Spec: What the
 * service does
 */
import { operations } from '../../../fixtures/contract/operations.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { ExpectationFailure, expectEqual, expectThat } from '../../target/expectations.ts';
import type { RawRequestOptions, RawResponse } from '../../target/raw-connection.ts';
import type { WireRequest } from '../../target/target.ts';
import { TransportFailure } from '../../target/transport-failure.ts';
import {
  type DeviceWithOffers,
  deviceWithEverything,
  expectVariant,
  mismatchOf,
  notObservable,
  requestsTo,
  type ValidRequestRow,
} from './valid-requests.ts';

/** Time after which the client sends the body even without a status 100. */
const BODY_AFTER_MS = 1000;

/** A server may answer 417 if it does not support Expect. RFC 9110, section 10.1.1 */
const declinesExpect = [417];
/** A server may support newer HTTP versions only. RFC 9110, sections 15.5.22 and 15.6.6 */
const declinesVersion = [426, 505];

/** Returns a function that sends a request on a new connection; `judge` receives the response. */
function alone(
  context: TestContext,
  variant: RawRequestOptions,
  judge: (response: RawResponse) => void = () => undefined,
): (request: WireRequest) => Promise<RawResponse> {
  return (request) =>
    context.client.onOneConnection(async (send) => {
      const response = await send(request, variant);
      judge(response);
      return response;
    });
}

/** Returns false for /connect, whose connection becomes a WebSocket. RFC 6455 */
function isPlain({ id }: ValidRequestRow): boolean {
  return id !== 'connect';
}

function withExpect(request: WireRequest): WireRequest {
  return { ...request, headers: { ...request.headers, expect: '100-continue' } };
}

/** Asserts that a response to HTTP/1.0 has no transfer coding. */
function expectReadable({ head }: RawResponse): void {
  const coding = head.headers['transfer-encoding'];
  const actual = `Transfer-Encoding: ${coding}`;
  expectThat(coding === undefined, 'a response to HTTP/1.0 without a transfer coding', actual);
}

/** Returns true if requests of the row may be pipelined. RFC 9112, section 9.3.2 */
function isIdempotent({ id }: ValidRequestRow): boolean {
  return ['GET', 'PUT'].includes(operations[id].method) && id !== 'connect';
}

/** One request of a pipeline and its response. */
interface PipelinedRequest {
  readonly row: ValidRequestRow;
  readonly requestId: string;
  readonly response: RawResponse | undefined;
}

/** Sends all requests at once on one connection; a request that is not answered has no response. */
function sendPipelined(
  context: TestContext,
  rows: readonly ValidRequestRow[],
): Promise<readonly PipelinedRequest[]> {
  const name = context.names.requestId.toLowerCase();
  return context.client.onOneConnection((send) =>
    Promise.all(
      rows.map(async (row, index) => {
        const requestId = `${context.newName()}-pipelined-${index}`;
        const request = row.validRequest.request(context.newName());
        const headers = { ...request.headers, [name]: requestId };
        const response = await send({ ...request, headers }).catch(ignoreClosed);
        return { row, requestId, response };
      }),
    ),
  );
}

/** Returns undefined for a closed connection, which a server may close after any response. */
function ignoreClosed(error: unknown): undefined {
  if (error instanceof TransportFailure && error.code === 'connection-closed') return undefined;
  throw error;
}

/** Spec: What the service does */
export const rawRequestVariantCases = defineScenario<DeviceWithOffers>({
  area: 'legal-forms',
  name: 'Requests in raw forms',
  start: 'a device with a configuration that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: deviceWithEverything,
  cases: [
    {
      id: 'expect-100-continue',
      title: 'A client may send its body after the 100 of the server, or after a short wait.',
      requirements: ['service.expect-continue'],
      run: async (arranged, context) => {
        const send = alone(context, { bodyAfterMs: BODY_AFTER_MS });
        const sending = { change: withExpect, declines: declinesExpect, send };
        for (const row of requestsTo(arranged, context)) {
          if (row.validRequest.request('').body === undefined) continue;
          await expectVariant(context, row, { prefix: 'Expect: 100-continue', sending });
        }
      },
    },
    {
      id: 'http-1-0',
      title: 'An HTTP/1.0 client gets a response that it can read, and the end of the connection.',
      requirements: ['service.http-1-0'],
      run: async (arranged, context) => {
        const send = alone(context, { version: '1.0' }, expectReadable);
        const sending = { declines: declinesVersion, send };
        for (const row of requestsTo(arranged, context).filter(isPlain)) {
          await expectVariant(context, row, { prefix: 'HTTP/1.0', sending });
        }
      },
    },
    {
      id: 'pipelined-requests',
      title: 'Pipelined requests are answered in order.',
      requirements: ['service.pipelining'],
      run: async (arranged, context) => {
        const rows = requestsTo(arranged, context).filter(isIdempotent);
        const name = context.names.requestId.toLowerCase();
        for (const { row, requestId, response } of await sendPipelined(context, rows)) {
          if (response === undefined) continue;
          const responseId = response.headers[name];
          // Another case judges a response without a request ID.
          if (responseId !== undefined)
            expectEqual(`request ID of ${row.id}`, responseId, requestId);
          if (String(response.status) in operations[row.id].success) continue;
          const plainMismatch = await mismatchOf(context, row);
          if (plainMismatch) throw notObservable(row.id, plainMismatch);
          const what = `${row.id}, pipelined: `;
          throw new ExpectationFailure(`${what}a success`, `${what}${response.status}`);
        }
      },
    },
  ],
});
