"""Which tests run only with `./test --all`: those that show with much what another test shows with less.

On the left is what stays in `./test`, on the right what it stands for there. A name is a folder, the tests of a folder on
PostgreSQL, a file, a test, or a test with one of its parameters; the most exact one counts.
"""

from __future__ import annotations

from collections.abc import Iterator

A = "tests/acceptance/test_"
C = "tests/contract/events/test_"
K = "tests/cluster/test_"
W = "tests/serve/web/test_"
GROWS = "tests/acceptance/test_small_pages_that_grow.py::"
STANDS_FOR: dict[str, tuple[str, ...]] = {
    # ---- a worker that stands still: its turn is lost in the process of the test instead of another one
    "tests/engine/test_late_turns.py::test_a_source_is_requested_in_another_turn_when_its_own_is_over": (
        "tests/engine/test_late_turns.py::test_a_worker_that_stood_still_until_others_had_the_slot_waits_for_another[PostgreSQL]",
    ),
    # ---- killed in the middle: once at each level instead of twenty times for each command
    "tests/store/test_processes.py": (
        f"{A}kill.py::test_twenty_kills_lose_nothing_and_cost_no_more_than_what_was_in_flight",
        f"{A}audit_kill.py::test_twenty_kills_leave_the_database_of_an_uninterrupted_crawl",
        f"{A}audit_kill.py::test_a_re_crawl_that_is_killed_again_and_again_is_that_of_one_that_was_not",
    ),
    f"{A}events_kill.py::test_one_of_two_workers_killed_leaves_its_sources_to_the_other": (
        f"{A}events_kill.py::test_twenty_kills_lose_nothing_and_double_nothing",
        f"{A}events_machines.py::test_three_share_thirty_sources_and_two_finish_when_one_is_killed",
    ),
    f"{A}events_life.py::test_the_life_of_a_source[sqlite-pages about events are asked for while their list stays as it is]": (
        f"{A}events_life.py::test_pages_of_an_unchanged_list_are_asked_for_within_a_budget_those_first_that_waited_longest",
        f"{A}events_life.py::test_a_rule_without_a_period_stays_one_event_whose_dates_move_on[without-sqlite]",
        f"{A}events_life.py::test_a_worker_goes_on_when_the_clock_is_set_back",
    ),
    f"{A}events_hostile.py::test_servers_that_misbehave_are_failed_runs_and_hurt_no_other": (
        f"{A}events_life.py::test_the_life_of_a_source[sqlite-a server that answers nothing or slowly costs a bounded time]",
    ),
    f"{A}serve_collects.py::test_the_service_collects_what_is_due_and_ends_cleanly": (
        f"{A}serve_collects.py::test_services_and_a_worker_share_the_sources",
        f"{A}serve_collects.py::test_a_collector_that_is_killed_starts_again_and_one_whose_service_is_killed_ends",
    ),
    f"{A}docs_kill.py::test_a_kill_while_the_files_are_written_leaves_nothing_behind[0.5]": (
        f"{A}docs_kill.py::test_a_kill_while_the_files_are_written_leaves_nothing_behind",
        f"{A}docs_kill.py::test_an_update_that_is_killed_tells_in_the_end_what_a_quiet_one_tells",
        f"{A}docs_kill.py::test_a_crawl_that_is_killed_again_and_again_leaves_the_files_of_a_quiet_one",
    ),
    f"{K}life.py::test_a_worker_that_is_told_to_stop_leaves_everything_in_order": (
        f"{K}life.py",
        f"{K}chaos.py",
    ),
    f"{K}failures.py::test_a_crawl_whose_tables_are_gone_fails_and_the_others_go_on[DROP SCHEMA crawl_broken CASCADE]": (
        f"{K}failures.py",
    ),
    f"{K}sharing_out.py::test_a_limit_is_exact_whoever_asks": (f"{K}sharing_out.py",),
    # ---- one parameter of several that take the same way
    f"{A}audit_planted.py::test_nothing_is_found_once_all_is_mended[the bakery]": (
        f"{A}audit_planted.py::test_nothing_is_found_once_all_is_mended",
    ),
    f"{A}events_credentials.py::test_no_follow_up_request_takes_a_credential_to_another_origin[header]": (
        f"{A}events_credentials.py::test_no_follow_up_request_takes_a_credential_to_another_origin",
    ),
    f"{A}events_credentials.py::test_follow_up_requests_to_the_own_origin_carry_the_credential[header]": (
        f"{A}events_credentials.py::test_follow_up_requests_to_the_own_origin_carry_the_credential",
    ),
    f"{A}audit_errors.py::test_a_full_disk_is_exit_1_and_the_same_command_goes_on[for nothing]": (
        f"{A}audit_errors.py::test_a_full_disk_is_exit_1_and_the_same_command_goes_on",
    ),
    f"{A}docs_errors.py::test_a_full_disk_is_exit_1_and_the_next_run_finishes[1000]": (
        f"{A}docs_errors.py::test_a_full_disk_is_exit_1_and_the_next_run_finishes",
        f"{A}docs_errors.py::test_a_file_that_may_not_grow_is_exit_1_and_the_earlier_files_stay",
    ),
    f"{A}docs_files.py::test_how_it_is_crawled_does_not_change_what_is_written[--processes 2 -c 4]": (
        f"{A}docs_files.py::test_how_it_is_crawled_does_not_change_what_is_written",
    ),
    f"{A}docs_use.py::test_an_agent_uses_all_five_tools[stdio]": (
        f"{A}docs_use.py::test_an_agent_uses_all_five_tools",
        "tests/jobs/docs_bundle/test_mcp.py::test_the_official_client_reads_a_site[stdio]",
        "tests/jobs/docs_bundle/test_mcp.py::test_a_client_that_reads_no_more_is_no_fault",
    ),
    f"{A}audit_options.py::test_a_body_of_400_megabytes_is_not_read_into_memory[text/html-error]": (
        f"{A}audit_options.py::test_a_body_of_400_megabytes_is_not_read_into_memory",
    ),
    f"{A}demo.py::test_the_demo_runs_and_leaves_what_it_promises": (
        f"{A}demo.py::test_the_links_job_finds_what_is_wrong_on_purpose",
        f"{A}demo.py::test_results_are_on_stdout_and_progress_is_on_stderr",
        f"{A}docs.py::test_every_command_in_the_readme_and_the_tour_works[demo     # crawl a small bundled site, o]",
    ),
    f"{A}events_life.py::test_the_life_of_a_source[postgresql-a clock that is ahead and put back does not stop the source]": (
        "tests/acceptance[postgresql]",
    ),
    f"{A}events_worker.py::test_failure_and_recovery_are_told_once_each": (
        f"{A}events_worker.py::test_a_sudden_drop_is_told_once_and_so_is_its_end",
    ),
    f"{A}audit_two.py::test_two_commands_without_a_limit_come_to_what_one_comes_to": (
        f"{A}audit_two.py::test_the_limit_is_exact_the_delay_is_kept_and_no_page_is_asked_for_twice",
    ),
    # ---- PostgreSQL: the contract suites hold the stores, one command each way holds the commands
    "tests/contract": (
        f"{A}audit_postgres.py::test_what_is_kept_on_postgresql_is_what_a_file_keeps",
        f"{A}audit_postgres.py::test_reports_and_comparisons_read_a_crawl_on_postgresql",
        f"{K}hidden_workers.py",
    ),
    f"{K}identity.py::test_any_number_of_workers_find_what_a_file_keeps[hamlets, two]": (
        f"{K}identity.py::test_any_number_of_workers_find_what_a_file_keeps",
    ),
    # ---- a real browser
    f"{A}docs_render.py::test_every_page_goes_through_the_browser_on_request": (
        f"{A}docs_render.py::test_a_browser_is_used_for_empty_pages_only_unless_told",
        f"{A}docs_render.py::test_a_site_of_a_real_framework_is_read_whole",
        f"{A}docs_render.py::test_what_changes_behind_a_shell_that_stays_the_same_is_seen",
    ),
    f"{A}audit_render.py::test_only_shells_are_given_to_the_browser_when_it_decides": (
        f"{A}audit_render.py::test_every_page_is_rendered_on_request",
        f"{A}audit_render.py::test_a_missing_browser_is_exit_3_and_the_rest_is_finished",
    ),
    "tests/browser/test_rendered_checks.py::test_a_page_waits_for_the_element_that_is_named": (
        "tests/browser/test_rendered_checks.py",
    ),
    "tests/browser/test_secrets.py": (
        f"{A}crawl_credentials.py::test_no_follow_up_request_of_a_crawl_takes_a_credential_to_another_origin[browser]",
    ),
    "tests/browser/test_rendering.py::test_the_page_that_scripts_made_of_an_empty_shell": ("tests/browser/test_rendering.py",),
    "tests/browser/test_no_way_around_the_guard.py::test_a_page_reaches_no_other_port_of_the_machine": (
        "tests/browser/test_no_way_around_the_guard.py",
        "tests/browser/test_browser_policy.py",
        "tests/browser/test_hostile_pages.py",
    ),
    "tests/browser/test_process.py::test_it_starts_with_the_first_page_without_our_secrets_and_leaves_nothing_behind": (
        "tests/browser/test_process.py",
    ),
    "tests/browser/test_report_page.py::test_nothing_that_a_stranger_wrote_runs": ("tests/browser/test_report_page.py",),
    f"{W}public_calendar.py::test_filters_are_one_click_away_and_a_second_click_removes_them": (
        f"{W}public_calendar.py::test_dates_replace_a_quick_filter",
        f"{W}public_calendar.py::test_events_near_the_reader",
        f"{W}public_calendar.py::test_a_month_and_a_day_are_filtered_by_free_and_near",
        f"{W}public_calendar.py::test_a_phone_shows_an_event_without_scrolling",
        f"{W}public_calendar.py::test_addresses_are_copied",
        f"{W}public_calendar.py::test_a_page_is_small_and_needs_few_requests",
        f"{W}public_calendar.py::test_the_operator_sets_logo_colour_and_texts",
        f"{W}public_calendar.py::test_tadorus_own_audit_gives_the_calendar_95_points",
    ),
    f"{W}everyday_use.py::test_a_message_about_a_change_is_shown_once": (
        f"{W}everyday_use.py::test_a_merge_and_a_history_name_the_source",
        f"{W}everyday_use.py::test_a_viewer_is_not_offered_to_edit",
        f"{W}everyday_use.py::test_a_cancelled_event_is_not_offered_for_calendars",
    ),
    # ---- setting up a checkout
    f"{A}start.py::test_the_first_use_sets_up_and_the_next_is_silent": (
        f"{A}start.py::test_a_changed_lock_and_a_moved_folder_refresh_what_is_there",
        f"{A}start.py::test_a_failed_install_shows_its_end_and_the_next_start_tries_again",
        f"{A}start.py::test_a_newer_python_is_found_behind_an_old_one",
        f"{A}start.py::test_two_first_uses_at_once_set_up_once",
        f"{A}start.py::test_a_set_up_that_was_killed_is_done_again_from_the_start",
    ),
    # ---- documents
    "tests/documents/test_commands.py": (
        "tests/documents/test_tutorials.py::test_a_tutorial_does_what_it_says",
        "tests/deploy/test_project_files.py::test_the_documentation_builds_without_a_warning",
    ),
    # ---- sites of real generators: their markup, written by hand, is read in each part's own tests
    "tests/quality/test_event_dedupe.py": (
        "tests/quality/test_event_dedupe.py::test_merging_across_sources_is_precise_and_finds_nearly_all",
        "tests/quality/test_event_dedupe.py::test_noise_that_the_rules_do_not_know_costs_recall_and_not_precision",
        "tests/quality/test_event_dedupe.py::test_the_labels_are_those_of_the_committed_list",
    ),
    "tests/jobs/docs_content": ("tests/quality/test_built_sites.py",),
    # ---- architecture: the layers hold what the imports of each module would show
    "tests/architecture/test_layers.py": (
        "tests/architecture/test_modules_import_alone.py::test_each_module_can_be_imported_first",
    ),
    "tests/architecture/test_patterns_are_linear.py::test_every_expression_that_is_new_or_has_changed_is_linear": (
        "tests/architecture/test_patterns_are_linear.py::test_every_expression_is_linear",
    ),
    "tests/architecture/test_patterns_are_linear.py::test_an_expression_for_short_texts_is_tried_with_those": (
        "tests/architecture/test_patterns_are_linear.py::test_slow_expressions_are_found_wherever_they_stand",
    ),
    # ---- bounds: one input that is without end instead of one of each kind
    "tests/parse/test_depth.py::test_items_of_markup_are_trees_of_bounded_depth_and_none_is_lost": (
        "tests/parse/test_depth.py::test_a_page_that_is_nested_without_end_is_read",
    ),
    "tests/jobs/docs/test_hostile_markdown.py": ("tests/quality/test_hostile_docs.py",),
    "tests/export/test_memory.py::test_memory_does_not_grow_with_the_pages[jsonl]": (
        "tests/export/test_memory.py::test_memory_does_not_grow_with_the_pages",
    ),
    r"tests/parse/sources/test_table_rows.py::test_as_many_rows_as_are_read_take_seconds[x\n]": (
        "tests/parse/sources/test_table_rows.py::test_as_many_rows_as_are_read_take_seconds",
    ),
    "tests/parse/sources/test_ics_bombs.py::test_as_many_components_as_are_read_take_seconds[changes of one series]": (
        "tests/parse/sources/test_ics_bombs.py::test_as_many_components_as_are_read_take_seconds",
        "tests/parse/sources/test_ics_bombs.py::test_many_changes_from_a_date_on_cost_no_more_for_each_date",
    ),
    "tests/bench/test_budget.py::test_a_job_that_costs_more_than_a_tenth_too_much_is_named": (
        "tests/bench/test_budget.py::test_a_page_costs_no_more_cpu_than_its_budget",
    ),
    "tests/parse/test_page_limits.py": (
        "tests/parse/test_content.py::test_a_text_of_many_runs_is_read_as_a_short_one_in_little_memory",
        "tests/bench/test_hostile.py::test_hostile_responses_are_read_within_their_limits",
        "tests/bench/test_hostile.py::test_every_family_of_every_format_is_generated_within_the_size_of_a_response",
    ),
    f"{GROWS}test_a_page_that_grows_takes_bounded_memory_and_disk[audit-long-base]": (
        f"{GROWS}test_a_page_that_grows_takes_bounded_memory_and_disk",
        f"{GROWS}test_a_page_of_too_many_elements_is_read_in_part_with_the_reason",
    ),
    f"{GROWS}test_so_does_one_whose_links_are_all_reported[longest-base]": (
        f"{GROWS}test_so_does_one_whose_links_are_all_reported",
    ),
    f"{GROWS}test_markdown_that_would_be_many_times_its_page_is_cut_with_a_note[nested-code]": (
        f"{GROWS}test_markdown_that_would_be_many_times_its_page_is_cut_with_a_note",
    ),
    "tests/jobs/docs/test_large_pages.py::test_as_many_elements_as_a_page_may_have_are_read_in_seconds[links]": (
        "tests/jobs/docs/test_large_pages.py::test_as_many_elements_as_a_page_may_have_are_read_in_seconds",
    ),
    "tests/jobs/docs/test_large_pages.py::test_files_of_a_large_page_are_written_in_seconds[one line of Chinese]": (
        "tests/jobs/docs/test_large_pages.py::test_files_of_a_large_page_are_written_in_seconds",
    ),
    "tests/jobs/test_report_memory.py::test_findings_are_not_gathered[markdown-True]": (
        "tests/jobs/test_report_memory.py::test_findings_are_not_gathered",
    ),
    # ---- the contract of the calendar and of accounts: on a file, and what is read and written most on PostgreSQL too
    f"{C}listing.py": ("tests/contract/events[postgresql]",),
    "tests/contract/access/test_users.py": ("tests/contract/access[postgresql]", "tests/contract/served[postgresql]"),
    f"{C}search_sync.py::test_a_fault_at_any_request_is_got_over[meilisearch-True-lost]": (
        f"{C}search_sync.py::test_a_fault_at_any_request_is_got_over",
    ),
    # ---- the contract of the calendar: one seed of each database, and kills and crowds where they are cheapest or hardest
    f"{C}orders.py::test_a_list_backwards_is_the_list_turned_around_whatever_the_pages[sqlite-1]": (
        f"{C}orders.py::test_a_list_backwards_is_the_list_turned_around_whatever_the_pages[sqlite-2]",
        f"{C}orders.py::test_a_list_backwards_is_the_list_turned_around_whatever_the_pages[postgresql-2]",
    ),
    f"{C}orders.py::test_a_list_by_relevance_has_what_the_list_by_time_has_the_best_first[sqlite-3]": (
        f"{C}orders.py::test_a_list_by_relevance_has_what_the_list_by_time_has_the_best_first[sqlite-4]",
        f"{C}orders.py::test_a_list_by_relevance_has_what_the_list_by_time_has_the_best_first[postgresql-4]",
    ),
    f"{C}opening.py::test_processes_that_open_a_new_database_at_once_all_get_it[postgresql]": (
        f"{C}opening.py::test_processes_that_open_a_new_database_at_once_all_get_it[sqlite]",
    ),
    f"{C}applying.py::test_a_kill_at_any_statement_and_a_second_run_give_the_same[sqlite]": (
        f"{C}applying.py::test_a_kill_at_any_statement_and_a_second_run_give_the_same[postgresql]",
        f"{C}applying.py::test_a_large_run_holds_the_stored_form_of_only_a_few_rows",
    ),
    # ---- pages of the service: one journey of each kind in a real browser; what they answer is tested without one
    f"{W}appearance.py::test_what_a_stranger_wrote_is_text_and_never_runs": (f"{W}appearance.py", f"{W}every_page.py"),
    f"{W}journeys.py::test_from_an_empty_service_to_a_calendar": (f"{W}journeys.py",),
    f"{W}live_updates.py::test_numbers_states_and_notices_of_a_crawl_are_shown_as_they_come": (f"{W}live_updates.py",),
    f"{W}crawl_responses.py": (f"{W}crawl_pages.py",),
    f"{W}crawl_desk.py::test_a_failed_run_does_not_hide_the_last_good_one": (
        f"{W}crawl_desk.py",
        f"{W}task_clicks.py",
        f"{W}service_defects.py",
    ),
    f"{W}cluster.py::test_the_page_tells_of_workers_crawls_queue_and_hosts": (f"{W}cluster.py",),
    "tests/serve/docs_sites/test_browser.py::test_a_site_that_means_harm_does_nothing": (
        "tests/serve/docs_sites/test_browser.py",
    ),
    "tests/serve/crawl_runner/test_processes.py::test_when_the_service_ends_its_crawls_wait_for_the_next_start": (
        "tests/serve/crawl_runner/test_service.py::test_a_crawl_outlives_the_service_that_began_it",
    ),
    "tests/serve/test_numbers.py::test_no_number_in_an_address_breaks_a_page[1e999]": (
        "tests/serve/test_numbers.py::test_no_number_in_an_address_breaks_a_page",
    ),
    "tests/serve/test_file_modes.py::test_what_a_crawl_of_the_service_writes_is_for_its_owner[no umask-docs]": (
        "tests/serve/test_file_modes.py::test_what_a_crawl_of_the_service_writes_is_for_its_owner",
        "tests/serve/test_file_modes.py::test_a_crawl_that_an_operator_named_keeps_its_rights[the usual umask]",
    ),
    "tests/serve/docs_sites/test_markup.py::test_a_page_of_marks_is_cut_before_it_takes_seconds[a\\n\\n]": (
        "tests/serve/docs_sites/test_markup.py::test_a_page_of_marks_is_cut_before_it_takes_seconds",
    ),
    "tests/serve/crawl_runner/test_processes.py::test_every_kind_of_crawl_runs_to_its_end_and_says_so": (
        "tests/serve/crawl_runner/test_processes.py::test_a_crawl_that_is_paused_and_killed_on_its_way_comes_to_the_same",
    ),
    # ---- the interface of the service
    "tests/serve/api/test_openapi.py": ("tests/serve/api/test_schemathesis.py", f"{W}api_reference.py"),
    "tests/serve/load/test_shared_limits.py": (
        f"{A}serve_hostile.py::test_limits_are_one_for_all_processes",
        f"{A}serve_hostile.py::test_wrong_keys_are_counted_by_all_processes_together",
    ),
    "tests/serve/live/test_connection.py": (f"{A}serve_live.py",),
    "tests/serve/auth/test_middleware.py::test_every_request_is_one_line_and_no_secret_is_in_it": (
        f"{A}serve_hostile.py::test_no_secret_of_a_whole_day_is_in_the_log_an_error_or_the_numbers",
    ),
    f"{A}serve.py::test_it_answers_and_ends_when_it_is_asked_to": (
        f"{A}serve.py::test_a_request_that_is_under_way_is_answered_before_it_ends",
        f"{A}serve.py::test_a_worker_that_dies_is_replaced",
        f"{A}serve.py::test_it_stands_on_postgresql_as_well",
        f"{A}serve.py::test_processes_end_when_the_one_that_started_them_is_killed",
        f"{A}serve.py::test_several_processes_answer_on_one_port",
    ),
}  # fmt: skip
_THOROUGH = {name for names in STANDS_FOR.values() for name in names}


def is_thorough(nodeid: str) -> bool:
    """Does this test run only with `./test --all`?"""
    for name in _names(nodeid):
        if name in STANDS_FOR:
            return False
        if name in _THOROUGH:
            return True
    return False


def _names(nodeid: str) -> Iterator[str]:
    """The test with its parameter, the test, its file, the tests of its folder on PostgreSQL, its folder."""
    file, _, test = nodeid.partition("::")
    name, _, parameter = test.partition("[")
    folder = file.rpartition("/")[0]
    yield nodeid
    yield f"{file}::{name}"
    yield file
    if parameter.startswith("postgresql"):
        yield f"{folder}[postgresql]"
    yield folder
