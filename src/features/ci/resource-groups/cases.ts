import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

async function group(s: Stage) {
  const key = unique('group')
  const now = new Date().toISOString()
  const row = { project_id: s.project.id, key, process_mode: 'unordered' as const, created_at: now, updated_at: now }
  await s.forge.app.db.insertInto('resource_groups').values(row).execute()
  return { key }
}

export const cases = casesOf(
  `
                                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/resource_groups                    private 401  404  404  403  403  200  200  200  200  401
                                                       public  401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/resource_groups/:key               private 401  404  404  403  403  200  200  200  200  401
                                                       public  401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/resource_groups/:key/upcoming_jobs private 401  404  404  403  403  200  200  200  200  401
                                                       public  401  403  403  403  403  200  200  200  200  401
  PUT /projects/:id/resource_groups/:key               private 401  404  404  403  403  200  200  200  200  401
                                                       public  401  403  403  403  403  200  200  200  200  401
`,
  {
    'GET /projects/:id/resource_groups/:key': { at: group },
    'GET /projects/:id/resource_groups/:key/upcoming_jobs': { at: group },
    'PUT /projects/:id/resource_groups/:key': { at: group, input: { process_mode: 'newest_first' } },
  },
)
