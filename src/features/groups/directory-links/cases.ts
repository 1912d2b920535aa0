import { casesOf, groupPath, unique, type Stage } from '../../../../test/cases.ts'

const newLink = () => ({ cn: unique('cn'), group_access: 30, provider: 'ldapmain' })

async function link(s: Stage) {
  const { cn, provider } = await s.make(groupPath(s, '/ldap_group_links'), newLink())
  return { cn, provider }
}

export const cases = casesOf(
  `
                                                             anon strg extn guest rept devl mast ownr admn blkd
  GET /groups/:id/ldap_group_links                   private  401  404  404  403  403  403  403  200  200  401
                                                     public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/ldap_group_links                  private  401  404  404  403  403  403  403  201  201  401
                                                     public   401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/ldap_group_links                private  401  404  404  403  403  403  403  204  204  401
                                                     public   401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:cn            private  401  404  404  403  403  403  403  204  204  401
                                                     public   401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:provider/:cn  private  401  404  404  403  403  403  403  204  204  401
                                                     public   401  403  403  403  403  403  403  204  204  401
  POST /groups/:id/ldap_sync                         private  401  404  404  403  403  403  403  202  202  401
                                                     public   401  403  403  403  403  403  403  202  202  401
`,
  {
    'POST /groups/:id/ldap_group_links': { input: newLink },
    'DELETE /groups/:id/ldap_group_links': { input: link },
    'DELETE /groups/:id/ldap_group_links/:cn': { at: link },
    'DELETE /groups/:id/ldap_group_links/:provider/:cn': { at: link },
  },
)
