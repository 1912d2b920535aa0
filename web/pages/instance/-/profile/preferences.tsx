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
        <p>Light and dark mode, reduced motion and text size follow your system settings.</p>
      </Chapter>
      <Chapter title="Keyboard shortcuts">
        <Keys />
      </Chapter>
      <Chapter title="Feed token" hint="Lets a feed reader read your feeds.">
        <Secret name="feed" label="Feed token" />
        <p>{feed.feed_token ? 'Feed token is active.' : 'No feed token yet.'}</p>
        <ActButton
          action="rotate"
          {...(feed.feed_token && {
            confirm: 'Reset the feed token? Feed readers that use the current token stop working.',
          })}
        >
          {feed.feed_token ? 'Reset feed token' : 'Create feed token'}
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
