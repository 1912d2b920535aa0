import type { Listed, Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Pages, Row, Rows } from '../../../../components/lists.tsx'
import { listPage } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  sessions: Listed<Records['Session'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api, query }) => ({ sessions: api.list('/user/sessions', listPage(query)) }),
  title: () => common.activeSessions,
  View: ({ sessions }) => (
    <>
      <h1>{common.activeSessions}</h1>
      <p class="quiet">{t.devicesAndBrowsers}</p>
      <Rows label={common.sessions}>
        {sessions.items.map((session) => (
          <Row
            key={session.id}
            title={
              <>
                {session.ip_address ?? t.unknownIpAddress}{' '}
                {session.current && <span class="badge">{t.currentSession}</span>}
              </>
            }
            facts={
              <>
                {rich(t.userAgentSignedInTime, {
                  userAgent: session.user_agent,
                  time: <Time at={session.created_at} />,
                })}
                {session.last_used_at && rich(t.lastUsedTimeSuffix, { time: <Time at={session.last_used_at} /> })}
              </>
            }
            aside={
              !session.current && (
                <ActButton action="end" fields={{ session: session.id }} kind="danger">
                  {common.signOut}
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
