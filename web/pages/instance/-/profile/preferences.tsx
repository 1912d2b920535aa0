import type { Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Keys } from '../../../../components/Keys.tsx'
import { Chapter, Secret } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare } from '../../../../page.ts'

interface Data {
  feed: Records['FeedToken']
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ feed: api.get('/user/feed_token', {}) }),
  title: () => 'Preferences',
  View: ({ feed }) => (
    <>
      <h1>Preferences</h1>
      <Chapter title="Appearance">
        <p>Light or dark follows your system, and so do reduced motion and the size of text.</p>
      </Chapter>
      <Chapter title="Keys">
        <Keys />
      </Chapter>
      <Chapter title="Feed token" hint="Opens your feeds in a reader, and nothing else.">
        <Secret name="feed" label="Feed token" />
        <p>{feed.feed_token ? 'You have a feed token.' : 'You have no feed token yet.'}</p>
        <ActButton
          action="rotate"
          {...(feed.feed_token && { confirm: 'Replace it? Readers that have the old one stop.' })}
        >
          {feed.feed_token ? 'Replace it' : 'Make one'}
        </ActButton>
      </Chapter>
    </>
  ),
  actions: {
    async rotate({ api }) {
      const { feed_token } = await api.post('/user/feed_token/rotate', {})
      return { told: { feed: feed_token ?? '' } }
    },
  },
})
