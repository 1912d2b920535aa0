import type { Listed, Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Pages, Row, Rows } from '../../../../components/lists.tsx'
import { listPage } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  sessions: Listed<Records['Session'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api, query }) => ({ sessions: api.list('/user/sessions', listPage(query)) }),
  title: () => 'Active sessions',
  View: ({ sessions }) => (
    <>
      <h1>Active sessions</h1>
      <p class="quiet">Devices and browsers that are signed in to your account.</p>
      <Rows label="Sessions">
        {sessions.items.map((session) => (
          <Row
            key={session.id}
            title={
              <>
                {session.ip_address ?? 'Unknown IP address'}{' '}
                {session.current && <span class="badge">current session</span>}
              </>
            }
            facts={
              <>
                {session.user_agent} · signed in <Time at={session.created_at} />
                {session.last_used_at && (
                  <>
                    , last used <Time at={session.last_used_at} />
                  </>
                )}
              </>
            }
            aside={
              !session.current && (
                <ActButton action="end" fields={{ session: session.id }} kind="danger">
                  Sign out
                </ActButton>
              )
            }
          />
        ))}
      </Rows>
      <Pages of={sessions} />
    </>
  ),
  actions: {
    async end({ api, form }) {
      await api.delete('/user/sessions/{session_id}', { session_id: text(form, 'session') })
    },
  },
})
