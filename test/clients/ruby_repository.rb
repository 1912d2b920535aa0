# Drives a started Mortise with ruby-gitlab: repositories and what stands around them.

require 'base64'
require 'open3'
require_relative 'ruby_checks'

URL, TOKEN, FOLDER = ARGV
GL = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: TOKEN)

def names(things)
  things.map(&:name)
end

def titles(commits)
  commits.map(&:title)
end

def create(path, content)
  { action: 'create', file_path: path, content: content }
end

def commits
  project = GL.create_project('Rb Code').id
  jane = { author_name: 'Jane Doe', author_email: 'jane@example.com' }
  # Of a plain tar without a single such letter the client believes that it is text.
  files = [create('README.md', "# Cöde\n"), create('src/main.c', "main\n"), create('bin/run', "#!/bin/sh\n")]
  first = GL.create_commit(project, 'master', 'First', files, jane)
  same('a new commit', [first.title, first.author_name, first.stats.additions], ['First', 'Jane Doe', 3])
  second = GL.create_commit(project, 'master', 'Second', [
    { action: 'update', file_path: 'README.md', content: "# Cöde\nMore\n" },
    { action: 'move', file_path: 'lib/main.c', previous_path: 'src/main.c' },
    { action: 'chmod', file_path: 'bin/run', execute_filemode: true },
    { action: 'delete', file_path: 'lib/main.c' }
  ])
  tree = GL.tree(project, recursive: true, per_page: 1).auto_paginate
  left = [%w[bin 040000], %w[README.md 100644], %w[bin/run 100755]]
  same('what is left', tree.map { |one| [one.path, one.mode] }, left)
  GL.create_commit(project, 'topic', 'On a branch', [create('topic.txt', "1\n")], start_branch: 'master')
  pages = GL.commits(project, ref_name: 'topic', per_page: 1)
  same('every page', titles(pages.auto_paginate), ['On a branch', 'Second', 'First'])
  same('by author', titles(GL.commits(project, author: 'jane', with_stats: true)), %w[First])
  same('a commit by its branch', GL.commit(project, 'topic').parent_ids, [second.id])
  refused('an unknown commit', 404, '404 Commit Not Found') { GL.commit(project, 'nothing') }
  same('a diff', GL.commit_diff(project, second.id).map(&:new_path), %w[README.md bin/run src/main.c])
  [project, first.id, second.id]
end

def around_commits(project, first, second)
  GL.create_commit_comment(project, second, 'Why?', path: 'README.md', line: 2, line_type: 'new')
  same('a comment', GL.commit_comments(project, second).map { |one| [one.note, one.line] }, [['Why?', 2]])
  GL.update_commit_status(project, second, 'running', name: 'build', ref: 'master', target_url: 'https://ci.example')
  GL.update_commit_status(project, second, 'success', name: 'build', ref: 'master')
  same('statuses', GL.commit_status(project, second).map { |one| [one.name, one.status] }, [%w[build success]])
  same('its refs', GL.commit_refs(project, second, type: 'branch').map(&:name), %w[master topic])
  same('its merge requests', GL.commit_merge_requests(project, second).to_a, [])
  GL.create_branch(project, 'past', first)
  picked = GL.cherry_pick_commit(project, 'topic', 'past')
  same('a picked commit', [picked.title, picked.parent_ids], ['On a branch', [first]])
  same('a reverted commit', GL.revert_commit(project, picked.id, 'past').title, 'Revert "On a branch"')
  same('the last in common', GL.merge_base(project, %w[master past]).id, first)
  seen = GL.compare(project, first, 'topic')
  same('compared', [titles(seen.commits), seen.diffs.size], [['Second', 'On a branch'], 4])
  people = GL.contributors(project, order_by: 'name')
  same('contributors', people.map { |one| [one.name, one.commits] }, [['Administrator', 1], ['Jane Doe', 1]])
end

def branches(project)
  made = GL.create_branch(project, 'feature/saw', 'master')
  same('a new branch', [made.name, made.protected], ['feature/saw', false])
  same('branches', names(GL.branches(project, per_page: 2).auto_paginate), %w[feature/saw master past topic])
  same('a branch', GL.branch(project, 'feature/saw').commit.title, 'Second')
  rule = GL.protect_branch(project, 'feature/*', push_access_level: 0, merge_access_level: 30)
  same('a rule', [rule.name, rule.push_access_levels.first['access_level']], ['feature/*', 0])
  same('a protected branch', GL.branch(project, 'feature/saw').protected, true)
  same('rules', names(GL.protected_branches(project)), %w[master feature/*])
  same('a rule by its name', GL.protected_branch(project, 'feature/*').merge_access_levels.first['access_level'], 30)
  GL.unprotect_branch(project, 'feature/*')
  GL.delete_branch(project, 'feature/saw')
  refused('a deleted branch', 404, '404 Branch Not Found') { GL.branch(project, 'feature/saw') }
  GL.create_branch(project, 'merged', 'master~1')
  GL.delete_merged_branches(project)
  until_so('merged branches are gone') { !names(GL.branches(project)).include?('merged') }
end

def tags(project)
  made = GL.create_tag(project, 'v1', 'master', '', 'The **first**')
  same('a light tag with a note', [made.message, made.release.description], [nil, 'The **first**'])
  same('a tag with a message', GL.create_tag(project, 'w1', 'master', 'The second').message, 'The second')
  same('tags', names(GL.tags(project, order_by: 'name', sort: 'asc')), %w[v1 w1])
  same('a note', GL.create_release(project, 'w1', 'One').description, 'One')
  same('a changed note', GL.update_release(project, 'w1', 'Two').description, 'Two')
  rule = GL.protect_repository_tag(project, 'x*', create_access_level: 30)
  same('a rule', rule.create_access_levels.first['access_level'], 30)
  same('a rule by its name', GL.protected_tag(project, 'x*').name, 'x*')
  GL.unprotect_repository_tag(project, 'x*')
  same('no rule', GL.protected_tags(project).to_a, [])
  GL.delete_tag(project, 'w1')
  refused('a deleted tag', 404, '404 Tag Not Found') { GL.tag(project, 'w1') }
end

def releases(project)
  GL.create_project_release(project, tag_name: 'v2', ref: 'master', name: 'Two', description: 'Second')
  same('releases', GL.project_releases(project).map(&:tag_name).sort, %w[v1 v2])
  GL.update_project_release(project, 'v2', name: 'The second')
  same('a changed release', GL.project_release(project, 'v2').name, 'The second')
  link = GL.create_project_release_link(project, 'v2', name: 'Saw', url: 'https://files.example/saw.zip')
  GL.update_project_release_link(project, 'v2', link.id, name: 'The saw')
  same('a changed link', GL.project_release_link(project, 'v2', link.id).name, 'The saw')
  same('a deleted link', GL.delete_project_release_link(project, 'v2', link.id).id, link.id)
  same('no link', GL.project_release_links(project, 'v2').to_a, [])
  same('a deleted release', GL.delete_project_release(project, 'v2').tag_name, 'v2')
end

def files(project)
  jane = { author_name: 'Jane', author_email: 'jane@example.com' }
  made = GL.create_file(project, 'docs/näh.txt', 'topic', "eins\n", 'Add a file', jane)
  same('a new file', [made.file_path, made.branch], ['docs/näh.txt', 'topic'])
  GL.edit_file(project, 'docs/näh.txt', 'topic', "zwei\n", 'Change a file')
  same('a file', Base64.decode64(GL.get_file(project, 'docs/näh.txt', 'topic').content), "zwei\n")
  same('its content', GL.file_contents(project, 'docs/näh.txt', 'topic'), "zwei\n")
  same('who wrote it', GL.get_file_blame(project, 'docs/näh.txt', 'topic').map(&:lines), [['zwei']])
  GL.remove_file(project, 'docs/näh.txt', 'topic', 'Remove a file')
  refused('a deleted file', 404, '404 File Not Found') { GL.get_file(project, 'docs/näh.txt', 'topic') }
end

def archives(project, second)
  %w[tar.gz tar.bz2 tbz tbz2 tb2 bz2 tar zip].each do |format|
    answer = GL.repo_archive(project, 'master', format)
    same("the name of #{format}", answer.filename.start_with?("rb-code-master-#{second}."), true)
    file = "#{FOLDER}/archive"
    File.binwrite(file, answer.read)
    list = format == 'zip' ? ['unzip', '-Z1', file] : ['tar', '--list', '--file', file]
    held, = Open3.capture2(*list)
    files = held.split.grep_v(%r{/$}).map { |path| path.split('/', 2).last }
    same("the files of #{format}", files.sort, %w[README.md bin/run])
  end
end

def keys(project)
  system('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'robot', '-f', "#{FOLDER}/robot", exception: true)
  key = GL.create_deploy_key(project, 'robot', File.read("#{FOLDER}/robot.pub"), can_push: true)
  GL.edit_deploy_key(project, key.id, 'robot 2', can_push: false)
  seen = GL.deploy_key(project, key.id)
  same('a changed key', [seen.title, seen.can_push], ['robot 2', false])
  other = GL.create_project('Rb Other').id
  same('a key enabled elsewhere', GL.enable_deploy_key(other, key.id).id, key.id)
  [project, other].each { |id| GL.delete_deploy_key(id, key.id) }
  same('no key', GL.deploy_keys(project).to_a, [])
  system('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', "#{FOLDER}/laptop", exception: true)
  mine = GL.create_ssh_key('laptop', File.read("#{FOLDER}/laptop.pub"))
  same('a key and its owner', GL.key(mine.id).user.username, 'root')
end

def wiki(project)
  same('a new page', GL.create_wiki(project, 'Saw wood', 'With a saw').slug, 'Saw-wood')
  GL.update_wiki(project, 'Saw-wood', content: 'With a sharp saw')
  same('a changed page', GL.wiki(project, 'Saw-wood').content, 'With a sharp saw')
  same('pages', GL.wikis(project, with_content: 1).map(&:content), ['With a sharp saw'])
  GL.delete_wiki(project, 'Saw-wood')
  same('no page', GL.wikis(project).to_a, [])
end

code, first, second = commits
around_commits(code, first, second)
puts 'commits: made, listed, commented, judged, picked, compared'
branches(code)
tags(code)
releases(code)
files(code)
puts 'branches, tags, releases and files: made, listed, changed, deleted'
archives(code, second)
keys(code)
wiki(code)
puts 'archives, keys and the wiki'
puts "ruby-gitlab #{Gitlab::VERSION} is content"
