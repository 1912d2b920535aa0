import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

/** Each allowed caller needs a subgroup of their own to move. */
const subgroup = async (s: Stage) => {
  const name = unique('sub')
  return { id: (await s.make('/groups', { name, path: name, parent_id: s.group.id })).id }
}

export const cases = casesOf(
  `
                                              anon strg extn guest rept devl mast ownr admn blkd
  POST /groups/:id/transfer           private  401  404  404  403  403  403  403  201  201  401
                                      public   401  404  404  403  403  403  403  201  201  401
  GET /groups/:id/transfer_locations  private  401  404  404  403  403  403  403  200  200  401
                                      public   401  403  403  403  403  403  403  200  200  401
`,
  { 'POST /groups/:id/transfer': { at: subgroup, input: { group_id: '' } } },
)
