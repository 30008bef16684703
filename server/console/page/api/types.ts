/** What the control listener answers, as far as the page reads it. */

/** A tenant in the list of them. */
export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly tenantToken: string;
  readonly createdAt: string;
}
