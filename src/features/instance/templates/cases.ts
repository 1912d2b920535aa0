import { casesOf } from '../../../../test/cases.ts'

const mit = () => ({ key: 'mit' })

export const cases = casesOf(
  `
                                      anon strg admn blkd
  GET /templates/licenses              200  200  200  401
  GET /templates/licenses/:key         200  200  200  401
  GET /templates/Licenses              200  200  200  401
  GET /templates/Licenses/:key         200  200  200  401
  GET /templates/gitignores            200  200  200  401
  GET /templates/gitignores/:name      200  200  200  401
  GET /templates/gitlab_ci_ymls        200  200  200  401
  GET /templates/gitlab_ci_ymls/:name  200  200  200  401
  GET /templates/dockerfiles           200  200  200  401
  GET /templates/dockerfiles/:name     200  200  200  401
`,
  {
    'GET /templates/licenses/:key': { at: mit },
    'GET /templates/Licenses/:key': { at: mit },
    'GET /templates/gitignores/:name': { at: () => ({ name: 'Agda' }) },
    'GET /templates/gitlab_ci_ymls/:name': { at: () => ({ name: 'Pages/Hugo' }) },
    'GET /templates/dockerfiles/:name': { at: () => ({ name: 'Golang' }) },
  },
)
