import { casesOf, type Stage } from '../../../../test/cases.ts'

const some = async ({ forge }: Stage) => {
  await forge.administrator.put('/application/settings', { session_expire_delay: 10080 })
  const { body } = await forge.administrator.get('/audit_events')
  return { audit_event_id: body[0].id as number }
}

export const cases = casesOf(
  `
                                     anon strg admn blkd
  GET /audit_events                   401  403  200  401
  GET /audit_events/:audit_event_id   401  403  200  401
`,
  { 'GET /audit_events/:audit_event_id': { at: some } },
)
