/** Counts the requests of a run, and the audit log entries that they leave on the target. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';

/** The counts of one run. */
export interface TrafficCounts {
  readonly requests: number;
  /** Changes by users that the target accepted; it writes an audit log entry for each. */
  readonly userChanges: number;
}

const [managementPath = ''] = managementOperations.login.path.split('/v1/');

/** Counts the requests of one run. */
export class RequestTotals {
  #requests = 0;
  #userChanges = 0;

  sent(): void {
    this.#requests += 1;
  }

  /** Counts a response. @param url an absolute URL, or a path below the base URL */
  recordResponse(method: string, url: string, status: number): void {
    const isChange = method !== 'GET' && method !== 'HEAD' && status >= 200 && status < 300;
    if (isChange && url.includes(managementPath)) this.#userChanges += 1;
  }

  get counts(): TrafficCounts {
    return { requests: this.#requests, userChanges: this.#userChanges };
  }
}
