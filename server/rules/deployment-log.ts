/**
 * Formats a deployment log for users: one line per message.
 * Spec: PUT /device/deployments/{id}/log
 */
import type { DeploymentLog } from '../../fixtures/contract/resources.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';

/** Returns a line with UTC time, level and message for every entry. */
export function logText({ messages }: DeploymentLog): string {
  return messages
    .map(({ timestamp, level, message }) => {
      const time = new Date(timestampMs(timestamp)).toISOString();
      return `${time} ${level}: ${message}\n`;
    })
    .join('');
}
