import type { Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Keys } from '../../../../components/Keys.tsx'
import { Chapter, Secret } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  feed: Records['FeedToken']
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ feed: api.get('/user/feed_token', {}) }),
  title: () => common.preferences,
  View: ({ feed }) => (
    <>
      <h1>{common.preferences}</h1>
      <Chapter title={t.appearance}>
        <p>{t.lightAndDarkModeReduced}</p>
      </Chapter>
      <Chapter title={common.keyboardShortcuts}>
        <Keys />
      </Chapter>
      <Chapter title={t.feedToken} hint={t.letsFeedReaderReadYourFeeds}>
        <Secret name="feed" label={t.feedToken} />
        <p>{feed.feed_token ? t.feedTokenIsActive : t.noFeedTokenYet}</p>
        <ActButton
          action="rotate"
          {...(feed.feed_token && {
            confirm: t.resetFeedTokenFeedReaders,
          })}
        >
          {feed.feed_token ? t.resetFeedToken : t.createFeedToken}
        </ActButton>
      </Chapter>
    </>
  ),
  actions: {
    async rotate({ api }) {
      const { feed_token } = await api.post('/user/feed_token/rotate', {})
      return { flash: { feed: feed_token ?? '' } }
    },
  },
})
