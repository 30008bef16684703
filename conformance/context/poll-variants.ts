/** The three operations that request the next deployment. Spec: Device deployments v1, v2 */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { HttpResponse } from '../target/response.ts';
import type { Capability } from './capabilities.ts';
import type { SuiteDevice } from './suite-device.ts';

/** The pairs that a device reports about itself, including artifact_name and device_type. */
type Provides = Readonly<Record<string, string>>;

/** One of the three requests for a device's next deployment. */
export interface PollVariant {
  readonly operation: Extract<
    OperationId,
    'get-next-deployment' | 'post-next-deployment' | 'post-next-deployment-v2'
  >;
  /** Used in IDs and titles. */
  readonly slug: 'get' | 'post' | 'v2';
  readonly label: string;
  /** The requirement that it is answered with 200 when an update is pending. */
  readonly pendingIs200: RequirementId;
  /** The capabilities that a target needs for this request; empty if every target has it. */
  readonly needs: readonly Capability[];
  readonly poll: (device: SuiteDevice, provides: Provides) => Promise<HttpResponse>;
}

/** GET v1, POST v1 and POST v2. */
export const pollVariants = [
  {
    operation: 'get-next-deployment',
    slug: 'get',
    label: 'GET v1',
    pendingIs200: 'next.get-pending-is-200',
    needs: [],
    poll: (device, provides) => device.call('get-next-deployment', { query: provides }),
  },
  {
    operation: 'post-next-deployment',
    slug: 'post',
    label: 'POST v1',
    pendingIs200: 'next.post-pending-is-200',
    needs: [],
    poll: (device, provides) => device.call('post-next-deployment', { body: provides }),
  },
  {
    operation: 'post-next-deployment-v2',
    slug: 'v2',
    label: 'POST v2',
    pendingIs200: 'next.v2-pending-is-200',
    needs: ['deployments-v2'],
    poll: (device, provides) =>
      device.call('post-next-deployment-v2', { body: { device_provides: provides } }),
  },
] as const satisfies readonly PollVariant[];
