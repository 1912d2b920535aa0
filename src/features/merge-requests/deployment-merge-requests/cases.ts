import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

async function deployment(s: Stage) {
  const { body } = await s.owner.get(projectPath(s, '/repository/branches/master'))
  const input = { environment: unique('place'), sha: body.commit.id, ref: 'master', tag: false, status: 'running' }
  return { deployment_id: (await s.make(projectPath(s, '/deployments'), input)).id as number }
}

export const cases = casesOf(
  `
                                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/deployments/:deployment_id/merge_requests private 401  404  404  403  200  200  200  200  200  401
                                                              public  401  403  403  403  200  200  200  200  200  401
`,
  { 'GET /projects/:id/deployments/:deployment_id/merge_requests': { at: deployment } },
)
