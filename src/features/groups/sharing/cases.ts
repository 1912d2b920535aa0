import { casesOf, groupPath, unique, type Stage } from '../../../../test/cases.ts'

async function newShare(s: Stage) {
  const name = unique('other')
  const { id } = await s.make('/groups', { name, path: name, visibility: 'public' })
  return { group_id: id, group_access: 30 }
}

export const cases = casesOf(
  `
                                              anon strg extn guest rept devl mast ownr admn blkd
  POST /groups/:id/share              private  401  404  404  403  403  403  403  201  201  401
                                      public   401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/share/:group_id  private  401  404  404  403  403  403  403  204  204  401
                                      public   401  403  403  403  403  403  403  204  204  401
`,
  {
    'POST /groups/:id/share': { input: newShare },
    'DELETE /groups/:id/share/:group_id': {
      async at(s) {
        const share = await newShare(s)
        await s.make(groupPath(s, '/share'), share)
        return { group_id: share.group_id }
      },
    },
  },
)
