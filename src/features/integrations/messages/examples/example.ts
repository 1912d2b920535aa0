import type { Webhooks } from '../../../../api/openapi.ts'

/** What receivers get, as the documentation shows it. */
export type Examples = Webhooks
