import type { Person } from '../../../forge.ts'
import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'

const command = { token: 'sesame', team_id: 'T1', user_id: 'U1', text: 'help' }

const connected = async (s: Stage) => {
  await s.owner.put(projectPath(s, '/services/slack-slash-commands'), { token: 'sesame' })
  return { slug: 'slack_slash_commands' }
}

/** A chat name as the web page for linking accounts stores it. */
const own = async (s: Stage, who: Person) => {
  await connected(s)
  const { db } = s.forge.app
  const { id: service_id } = await db
    .selectFrom('services')
    .select('id')
    .where('project_id', '=', s.project.id)
    .where('slug', '=', 'slack-slash-commands')
    .executeTakeFirstOrThrow()
  const about = { team_domain: null, chat_name: null, created_at: new Date().toISOString(), last_used_at: null }
  const { id } = await db
    .insertInto('chat_names')
    .values({ ...about, service_id, user_id: who.id, team_id: 'T2', chat_id: String(Math.random()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { chat_name_id: id }
}

export const cases = casesOf(
  `
                                                    anon strg extn guest rept devl mast ownr admn blkd
  POST /projects/:id/services/:slug/trigger  private 200  200  200  200  200  200  200  200  200  401
                                             public  200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/integrations/:slug/trigger  private 200  200  200  200  200  200  200  200  200  401
                                             public  200  200  200  200  200  200  200  200  200  401
  GET /user/chat_names                               401  200  200  200  200  200  200  200  200  401
  DELETE /user/chat_names/:chat_name_id              401  204  204  204  204  204  204  204  204  401
`,
  {
    'POST /projects/:id/services/:slug/trigger': { at: connected, input: command },
    'POST /projects/:id/integrations/:slug/trigger': { at: connected, input: command },
    'DELETE /user/chat_names/:chat_name_id': { own },
  },
)
