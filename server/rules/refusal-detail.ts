/** The details of a refusal, which rules decide and explanations show. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';

/** Further details for an explanation. They are never sent on the wire, and contain no secrets. */
export interface RefusalDetail {
  /**
   * The location of the error, which is `problem.path` of the journal and of explanations:
   * `body.status`, `query.page`, `header.Content-Type`, `path`,
   * `method`; `path.id` for the parameter `id`; `form.name` for a part of a form; `state` when the
   * server's state decided and the request itself may be valid.
   */
  readonly path?: string;
  readonly expected?: string;
  readonly actual?: string;
  /** Instruction how to correct the request, where the error text does not contain it. */
  readonly remedy?: string;
  /**
   * The violated rule as a whole sentence, where it differs from the default rule of the status.
   */
  readonly rule?: string;
  /** ID of the requirement that decided, where status and location do not identify it. */
  readonly requirement?: RequirementId;
  /** Evidence for finding the cause; typed code elsewhere evaluates it. */
  readonly evidence?: object;
}
