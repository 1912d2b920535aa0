import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

async function newShare(s: Stage) {
  const name = unique('other')
  const { id } = await s.make('/groups', { name, path: name, visibility: 'public' })
  return { group_id: id, group_access: 30 }
}

export const cases = casesOf(
  `
                                                anon strg extn guest rept devl mast ownr admn blkd
  POST /projects/:id/share              private  401  404  404  403  403  403  201  201  201  401
                                        public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/share/:group_id  private  401  404  404  403  403  403  204  204  204  401
                                        public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'POST /projects/:id/share': { input: newShare },
    'DELETE /projects/:id/share/:group_id': {
      async at(s) {
        const { group_id } = await s.make(projectPath(s, '/share'), await newShare(s))
        return { group_id }
      },
    },
  },
)
