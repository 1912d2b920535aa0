import { family } from '../../family.ts'

/** Read only where somebody asks for the documentation. */
export const messages = family({ webhooks: async () => (await import('./examples/all.ts')).examples })
