import type { Webhooks } from '../../../../api/openapi.ts'

/** The payloads of webhooks, as the documentation shows them. */
export type Examples = Webhooks
