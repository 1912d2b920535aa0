# Drives a started Mortise with ruby-gitlab: groups, projects, members and all that hangs on them.

require_relative 'ruby_checks'

URL, TOKEN, PICTURE = ARGV

def read(thing, wish)
  wish.to_h { |name, _| [name, thing[name.to_s]] }
end

def api_of(token)
  Gitlab.client(endpoint: "#{URL}/api/v4", private_token: token)
end

GL = api_of(TOKEN)

# Their account, and the API as they see it.
def person(name)
  user = GL.create_user("#{name}@example.com", 'correct horse', name, name: name, skip_confirmation: true)
  key = GL.post("/users/#{user.id}/impersonation_tokens", body: { name: 'tests', scopes: ['api'] })
  [user, api_of(key.token)]
end

def paths(things)
  things.map(&:path)
end

JANE, AS_JANE = person('rb-jane')
JOHN, AS_JOHN = person('rb-john')

def groups
  shop = GL.create_group('Rb Shop', 'rb-shop', visibility: 'public', description: 'tools')
  same('a new group', [shop.full_path, shop.visibility, shop.parent_id], ['rb-shop', 'public', nil])
  bench = GL.create_group('Bench', 'bench', parent_id: shop.id)
  vice = GL.create_group('Vice', 'vice', parent_id: bench.id)
  same('a nested group', [vice.full_path, vice.full_name], ['rb-shop/bench/vice', 'Rb Shop / Bench / Vice'])
  same('a group by its path', GL.group('rb-shop/bench/vice').id, vice.id)
  same('every page of the list', paths(GL.groups(per_page: 1).auto_paginate), %w[bench rb-shop vice])
  same('the last page', paths(GL.groups(per_page: 2).last_page), %w[vice])
  same('a search', paths(GL.group_search('ENC')), %w[bench])
  same('an order', paths(GL.groups(order_by: 'path', sort: 'desc')), %w[vice rb-shop bench])
  same('all but some', paths(GL.groups(skip_groups: [shop.id, bench.id])), %w[vice])
  same('subgroups', paths(GL.group_subgroups(shop.id)), %w[bench])

  wish = { name: 'Rb Shed', path: 'rb-shed', description: 'wood', request_access_enabled: true }
  GL.edit_group(shop.id, wish)
  same('a changed group', read(GL.group(shop.id), wish), wish)
  same('a group moved along', GL.group(vice.id).full_path, 'rb-shed/bench/vice')
  GL.edit_group(shop.id, avatar: File.open(PICTURE))
  avatar = "#{URL}/uploads/-/system/group/avatar/#{shop.id}/#{File.basename(PICTURE)}"
  same('an avatar', GL.group(shop.id).avatar_url, avatar)
  refused('a path that is taken', 400, "'path' has already been taken") { GL.create_group('Other', 'rb-shed') }
  GL.delete_group(vice.id)
  refused('a deleted group', 404, '404 Group Not Found') { GL.group(vice.id) }
  GL.group(shop.id)
end

def members_of_group(group)
  member = GL.add_group_member(group.id, JANE.id, 30)
  same('a new member', [member.id, member.username, member.access_level], [JANE.id, 'rb-jane', 30])
  GL.edit_group_member(group.id, JANE.id, 40)
  same('a changed member', GL.group_member(group.id, JANE.id).access_level, 40)
  same('members', GL.group_members(group.id, query: 'jane').map(&:username), ['rb-jane'])
  refused('a member twice', 409, 'Member already exists') { GL.add_group_member(group.id, JANE.id, 10) }
  GL.remove_group_member(group.id, JANE.id)
  refused('a member who left', 404, '404 Not found') { GL.group_member(group.id, JANE.id) }
end

def requests_of_group(group)
  [AS_JANE, AS_JOHN].each { |api| api.request_group_access(group.id) }
  same('requests', GL.group_access_requests(group.id).map(&:username).sort, %w[rb-jane rb-john])
  GL.approve_group_access_request(group.id, JANE.id, access_level: 20)
  GL.deny_group_access_request(group.id, JOHN.id)
  same('nobody waits', GL.group_access_requests(group.id).to_a, [])
  same('who was let in', GL.group_member(group.id, JANE.id).access_level, 20)
  GL.remove_group_member(group.id, JANE.id)
end

def directory_links(group)
  link = GL.add_ldap_group_links(group.id, 'all staff', 30, 'ldapmain')
  same('a link', [link.cn, link.group_access, link.provider], ['all staff', 30, 'ldapmain'])
  GL.sync_ldap_group(group.id)
  GL.delete_ldap_group_links(group.id, 'all staff', 'ldapmain')
  refused('no link', 404, '404 Not found') { GL.delete_ldap_group_links(group.id, 'all staff', 'ldapmain') }
end

def projects(group)
  own = GL.create_project('Rb Own')
  same('a personal project', [own.path_with_namespace, own.visibility], %w[root/rb-own private])
  5.times do |n|
    GL.create_project("Rb Tool #{n}", namespace_id: group.id, visibility: n < 3 ? 'public' : 'private')
  end
  gift = GL.create_project('Rb Gift', user_id: JOHN.id)
  same('a project for somebody', gift.path_with_namespace, 'rb-john/rb-gift')
  tool = GL.project('rb-shed/rb-tool-0')
  same('a project by its path and id', GL.project(tool.id).path_with_namespace, 'rb-shed/rb-tool-0')
  taken = "'limit_reached' , 'name' has already been taken, 'path' has already been taken"
  refused('a name that is taken', 400, taken) { GL.create_project('Rb Own') }

  newest = ['rb-gift', *4.downto(0).map { |n| "rb-tool-#{n}" }, 'rb-own']
  same('every page, newest first', paths(GL.projects(per_page: 3).auto_paginate), newest)
  by_keyset = GL.projects(per_page: 3, pagination: 'keyset', order_by: 'id', sort: 'asc').auto_paginate
  same('every page by keyset', paths(by_keyset), ['rb-own', *5.times.map { |n| "rb-tool-#{n}" }, 'rb-gift'])
  same('a search', paths(GL.project_search('tool 3')), %w[rb-tool-3])
  {
    { visibility: 'public' } => %w[rb-tool-2 rb-tool-1 rb-tool-0],
    { owned: true, search: 'own' } => %w[rb-own],
    { order_by: 'name', sort: 'asc', per_page: 2 } => %w[rb-gift rb-own],
    { archived: true } => [],
    { starred: true } => []
  }.each { |filters, expected| same("projects #{filters}", paths(GL.projects(filters)), expected) }
  same('projects of a group', GL.group_projects(group.id).length, 5)
  same('projects of a user', paths(GL.user_projects(JOHN.id)), %w[rb-gift])
  same('who sees a private one', paths(AS_JANE.projects), %w[rb-tool-2 rb-tool-1 rb-tool-0])
  [tool, own]
end

def attributes_of(project)
  switches = %i[
    issues_enabled merge_requests_enabled jobs_enabled wiki_enabled snippets_enabled container_registry_enabled
    shared_runners_enabled lfs_enabled public_jobs resolve_outdated_diff_discussions request_access_enabled
    only_allow_merge_if_pipeline_succeeds only_allow_merge_if_all_discussions_are_resolved
  ]
  wish = read(GL.project(project.id), switches.to_h { |name| [name, nil] }).transform_values(&:!)
  wish.merge!(name: 'Rb Saw', path: 'rb-saw', description: 'cuts', visibility: 'internal')
  wish.merge!(ci_config_path: 'ci/main.yml', approvals_before_merge: 2, tag_list: %w[wood sharp])
  GL.edit_project(project.id, wish)
  same('changed attributes', read(GL.project(project.id), wish), wish)
  GL.edit_project(project.id, avatar: File.open(PICTURE))
  avatar = "#{URL}/uploads/-/system/project/avatar/#{project.id}/#{File.basename(PICTURE)}"
  same('an avatar', GL.project(project.id).avatar_url, avatar)
  GL.edit_project(project.id, visibility: 'public', merge_requests_enabled: true, issues_enabled: true)
end

def members_of_project(project)
  member = GL.add_team_member(project.id, JANE.id, 30, expires_at: '2999-12-31')
  same('a new member', [member.id, member.access_level, member.expires_at], [JANE.id, 30, '2999-12-31'])
  GL.edit_team_member(project.id, JANE.id, 40)
  same('a changed member', GL.team_member(project.id, JANE.id).access_level, 40)
  same('members', GL.team_members(project.id).map(&:username), ['rb-jane'])
  same('all members', GL.all_members(project.id).map(&:username).sort, %w[rb-jane root])
  GL.remove_team_member(project.id, JANE.id)
  refused('a member who left', 404, '404 Not found') { GL.team_member(project.id, JANE.id) }
end

def requests_of_project(project)
  [AS_JANE, AS_JOHN].each { |api| api.request_project_access(project.id) }
  same('requests', GL.project_access_requests(project.id).map(&:username).sort, %w[rb-jane rb-john])
  GL.approve_project_access_request(project.id, JANE.id)
  GL.deny_project_access_request(project.id, JOHN.id)
  same('nobody waits', GL.project_access_requests(project.id).to_a, [])
  same('who was let in', GL.team_member(project.id, JANE.id).access_level, 30)
  GL.remove_team_member(project.id, JANE.id)
end

def standing(project, own)
  same('a star', GL.star_project(project.id).star_count, 1)
  same('a starred project', GL.projects(starred: true).map(&:id), [project.id])
  same('what a user starred', GL.user_starred_projects('root').map(&:id), [project.id])
  # The client's own unstar_project asks DELETE star, which is not in the API.
  GL.post("/projects/#{project.id}/unstar")
  same('no star', GL.project(project.id).star_count, 0)
  same('an archived project', GL.archive_project(project.id).archived, true)
  same('archived projects', paths(GL.projects(archived: true)), %w[rb-saw])
  same('no archived project', GL.unarchive_project(project.id).archived, false)

  friends = GL.create_group('Rb Friends', 'rb-friends')
  GL.share_project_with_group(own.id, friends.id, 30)
  shared = GL.project(own.id).shared_with_groups
  same('a share', shared.map { |one| [one.group_id, one.group_access_level] }, [[friends.id, 30]])
  same('a shared project', paths(GL.group_projects(friends.id)), %w[rb-own])
  GL.unshare_project_with_group(own.id, friends.id)
  same('no share', GL.project(own.id).shared_with_groups, [])
  GL.transfer_project_to_group(friends.id, own.id)
  same('a transferred project', GL.project(own.id).path_with_namespace, 'rb-friends/rb-own')
  GL.delete_group(friends.id)
  refused('a project that went with its group', 404, '404 Project Not Found') { GL.project(own.id) }
end

def forks(project)
  fork = AS_JANE.create_fork(project.id)
  same('a fork', [fork.path_with_namespace, fork.forked_from_project.id], ['rb-jane/rb-saw', project.id])
  until_so('the fork is there') { GL.project(fork.id).import_status == 'finished' }
  same('forks', GL.project_forks(project.id).map(&:id), [fork.id])
  GL.remove_forked(fork.id)
  same('no source', GL.project(fork.id).to_h.key?('forked_from_project'), false)
  GL.make_forked_from(fork.id, project.id)
  same('a source again', GL.project(fork.id).forked_from_project.id, project.id)
  GL.delete_project(fork.id)
  refused('a deleted fork', 404, '404 Project Not Found') { GL.project(fork.id) }
end

def hooks(project)
  wish = { push_events: false, note_events: true, job_events: true }
  hook = GL.add_project_hook(project.id, 'https://ci.example/hook', token: 'secret', **wish)
  same('a new hook', [hook.url, read(hook, wish)], ['https://ci.example/hook', wish])
  GL.edit_project_hook(project.id, hook.id, 'https://ci.example/other', issues_events: true)
  wish.merge!(url: 'https://ci.example/other', issues_events: true)
  same('a changed hook', read(GL.project_hook(project.id, hook.id), wish), wish)
  same('hooks', GL.project_hooks(project.id).map(&:id), [hook.id])
  refused('a bad address', 422, 'Invalid url given') { GL.add_project_hook(project.id, 'ftp://ci.example') }
  GL.delete_project_hook(project.id, hook.id)
  same('no hook', GL.project_hooks(project.id).to_a, [])
end

def push_rules(project)
  wish = { deny_delete_tag: true, commit_message_regex: '^[A-Z]', max_file_size: 10 }
  same('a new push rule', read(GL.add_push_rule(project.id, wish), wish), wish)
  GL.edit_push_rule(project.id, prevent_secrets: true)
  same('a changed push rule', read(GL.push_rule(project.id), wish.merge(prevent_secrets: true)),
       wish.merge(prevent_secrets: true))
  GL.delete_push_rule(project.id)
  # The client makes this of null.
  same('no push rule', GL.push_rule(project.id), false)
end

def uploads(project)
  image = GL.upload_file(project.id, PICTURE)
  alt = File.basename(PICTURE, '.png')
  same('an uploaded picture', [image.alt, image.markdown], [alt, "![#{alt}](#{image.url})"])
end

def namespaces
  same('namespaces', GL.namespaces(search: 'rb-').map(&:full_path).sort, %w[rb-jane rb-john rb-shed])
end

def templates
  {
    'mit' => [GL.license_templates.auto_paginate.map(&:key), GL.license_template('mit').content, 'MIT License'],
    'Ruby' => [GL.gitignore_templates.auto_paginate.map(&:name), GL.gitignore_template('Ruby').content, '*.gem'],
    'Binary' => [GL.dockerfile_templates.auto_paginate.map(&:name), GL.dockerfile_template('Binary').content, 'FROM']
  }.each do |key, (listed, content, part)|
    same("#{key} among #{listed}", listed.include?(key), true)
    same("the text of #{key}", content.include?(part), true)
  end
  same('a CI file', GL.gitlab_ci_yml_template('Ruby').content.include?('script'), true)
  license = GL.license_template('mit', project: 'Rb Saw', fullname: 'Jane Doe')
  same('a filled license', license.content.include?('Jane Doe'), true)
end

shed = groups
puts 'groups: made, nested, listed, searched, changed, deleted'
members_of_group(shed)
requests_of_group(shed)
directory_links(shed)
puts 'people of groups: members, access requests, directory links'
saw, own = projects(shed)
attributes_of(saw)
puts 'projects: made, listed, changed'
members_of_project(saw)
requests_of_project(saw)
puts 'people of projects: members, access requests'
standing(saw, own)
forks(saw)
hooks(saw)
push_rules(saw)
uploads(saw)
puts 'projects: starred, archived, shared, transferred, forked; hooks, push rules, uploads'
namespaces
templates
puts 'namespaces and templates'

GL.delete_group(shed.id)
until_so('all groups are gone') { GL.groups.empty? }
same('projects that are left', paths(GL.projects), %w[rb-gift])
puts "ruby-gitlab #{Gitlab::VERSION} is content"
