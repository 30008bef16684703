/** The log of a deployment as users read it: one line per message. Spec: PUT /device/deployments/{id}/log */
import type { DeploymentLog } from '../../fixtures/contract/resources.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';

/** Time in UTC, level and message of every entry. */
export function logText({ messages }: DeploymentLog): string {
  return messages
    .map(({ timestamp, level, message }) => {
      const time = new Date(timestampMs(timestamp)).toISOString();
      return `${time} ${level}: ${message}\n`;
    })
    .join('');
}
