import { casesOf, newProject } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                           anon strg extn guest rept devl mast ownr admn blkd
  POST /projects/:id/housekeeping  private  401  404  404  403  403  403  201  201  201  401
                                   public   401  403  403  403  403  403  201  201  201  401
`,
  {
    'POST /projects/:id/housekeeping': { at: newProject },
  },
)
