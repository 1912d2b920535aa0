import { Master } from '../../../lib/levels.ts'
import { weakMemo } from '../../../lib/async/weak-memo.ts'
import { casesOf, newProject, unique, type Stage } from '../../../../test/cases.ts'
import { addMember } from '../../../../test/cast.ts'

/** Every user may create projects in this group, so that only the permission to move the project is tested. */
const openGroup = weakMemo(async (s: Stage) => {
  const name = unique('open')
  const { id: group_id } = await s.make('/groups', { name, path: name, visibility: 'public' })
  const others = Object.values(s.cast.people).filter(({ id }) => id !== s.owner.id)
  for (const { id } of others) await addMember(s.forge, { group_id }, id, Master)
  return { namespace: name }
})

export const cases = casesOf(
  `
                                      anon strg extn guest rept devl mast ownr admn blkd
  PUT /projects/:id/transfer  private  401  404  404  403  403  403  403  200  200  401
                              public   401  403  403  403  403  403  403  200  200  401
`,
  {
    'PUT /projects/:id/transfer': { at: newProject, input: openGroup },
  },
)
