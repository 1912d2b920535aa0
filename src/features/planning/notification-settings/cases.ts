import { casesOf } from '../../../../test/cases.ts'

const input = { level: 'watch' }

export const cases = casesOf(
  `
                                                    anon strg extn guest rept devl mast ownr admn blkd
  GET /notification_settings                         401  200  200  200  200  200  200  200  200  401
  PUT /notification_settings                         401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/notification_settings     private  401  404  404  200  200  200  200  200  200  401
                                            public   401  200  200  200  200  200  200  200  200  401
  PUT /groups/:id/notification_settings     private  401  404  404  200  200  200  200  200  200  401
                                            public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/notification_settings   private  401  404  404  200  200  200  200  200  200  401
                                            public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/notification_settings   private  401  404  404  200  200  200  200  200  200  401
                                            public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'PUT /notification_settings': { input },
    'PUT /groups/:id/notification_settings': { input },
    'PUT /projects/:id/notification_settings': { input },
  },
)
