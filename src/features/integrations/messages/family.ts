import { family } from '../../family.ts'

/** Loaded only for the documentation. */
export const messages = family({ webhooks: async () => (await import('./examples/all.ts')).examples })
